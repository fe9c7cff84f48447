package export

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// change is a file with its old and its new text. A new file has no old text.
type change struct {
	// path is in the tree, and name is the file.
	path, name string
	old, text  []byte
	mode       fs.FileMode
	added      bool
}

// locks are directories that no other export writes to. They end with the process, however it ends.
type locks []*os.File

// lock locks a directory, unless another process has locked it.
func (l *locks) lock(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	for _, held := range *l {
		if same(held, file) {
			return file.Close()
		}
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("another export writes to %s: run this one after it", dir)
		}
		return fmt.Errorf("lock %s: %w", dir, err)
	}
	*l = append(*l, file)
	removeTemporary(dir)
	return nil
}

func same(a, b *os.File) bool {
	x, errX := a.Stat()
	y, errY := b.Stat()
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func (l *locks) release() {
	for _, file := range *l {
		_ = file.Close()
	}
	*l = nil
}

const temporary = ".resizectl-*.tmp"

// removeTemporary removes what a killed process has left in a directory.
func removeTemporary(dir string) {
	found, err := filepath.Glob(filepath.Join(strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`).Replace(dir), temporary))
	if err != nil {
		return
	}
	for _, name := range found {
		_ = os.Remove(name)
	}
}

// write writes all files. If one cannot be written, those before it are restored.
func write(changes []*change, l *locks) error {
	dirs := []string{}
	for _, c := range changes {
		if dir := filepath.Dir(c.name); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if err := l.lock(dir); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if err := c.unchanged(); err != nil {
			return err
		}
	}
	for i, c := range changes {
		if err := replace(c.name, c.text, c.mode); err != nil {
			return errors.Join(err, restore(changes[:i]))
		}
	}
	return nil
}

// unchanged returns an error if the file is not as it was read.
func (c *change) unchanged() error {
	info, err := os.Lstat(c.name) // A link must not be followed, even if it leads to the same text.
	if err == nil && info.Mode().IsRegular() && !c.added {
		var text []byte
		if text, err = os.ReadFile(c.name); err == nil && bytes.Equal(text, c.old) {
			return nil
		}
	}
	switch {
	case c.added && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil && !c.added:
		return fmt.Errorf("read %s: %w", c.name, err)
	}
	return fmt.Errorf("%s has changed while it was read: run the export again", c.name)
}

// restore gives files their old text.
func restore(changes []*change) error {
	var all []error
	for _, c := range changes {
		if c.added {
			all = append(all, os.Remove(c.name))
			continue
		}
		all = append(all, replace(c.name, c.old, c.mode))
	}
	return errors.Join(all...)
}

// replace gives a file a new text: all of it, or nothing.
func replace(name string, text []byte, mode fs.FileMode) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), temporary)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
			err = fmt.Errorf("write %s: %w", name, err)
		}
	}()
	if _, err = file.Write(text); err != nil {
		return err
	}
	if err = file.Chmod(mode); err != nil {
		return err
	}
	if err = file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
