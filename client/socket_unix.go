//go:build unix

package client

import (
	"io/fs"
	"os"
	"syscall"
)

// maxSocketPath is how many bytes the path of a Unix socket may have: one is left for its end.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// isMine reports whether a file belongs to the user of this process.
func isMine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
