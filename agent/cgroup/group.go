package cgroup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// group is a directory in the directory of a control group.
type group struct {
	name string
	// inode increases with the time of creation, on a kernel of 64 bits.
	inode uint64
}

// children returns the groups in a group. Most entries of its directory are files, which os.ReadDir
// would sort and describe.
func (t *Tree) children(dir string) ([]group, error) {
	f, err := open(dir, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(f) }()
	var groups []group
	for {
		n, err := unix.ReadDirent(f, t.buffer)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, fmt.Errorf("list %s: %w", dir, err)
		case n == 0:
			return groups, nil
		default:
			groups = appendDirectories(groups, t.buffer[:n])
		}
	}
}

// appendDirectories appends the directories in a buffer of struct linux_dirent64.
func appendDirectories(groups []group, buffer []byte) []group {
	const inode, length, kind, name = 0, 16, 18, 19
	for len(buffer) > name {
		size := int(binary.NativeEndian.Uint16(buffer[length:]))
		if size <= name || size > len(buffer) {
			break
		}
		if text, _, _ := bytes.Cut(buffer[name:size], []byte{0}); buffer[kind] == unix.DT_DIR && text[0] != '.' {
			groups = append(groups, group{string(text), binary.NativeEndian.Uint64(buffer[inode:])})
		}
		buffer = buffer[size:]
	}
	return groups
}

// open opens a file or directory. The runtime's poller, which os.Open uses, would cost more than
// the file itself.
func open(path string, flags int) (int, error) {
	for {
		f, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|flags, 0)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return -1, fmt.Errorf("open %s: %w", path, err)
		default:
			return f, nil
		}
	}
}
