package fetch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFile(t *testing.T) {
	t.Run("reads a file again when it changes", readsAFileAgainWhenItChanges)
	t.Run("reports what cannot be read as a file", reportsWhatCannotBeReadAsAFile)
}

func readsAFileAgainWhenItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores")
	p := poll(t, Feed{Name: "file", Place: Place{File: path}, Interval: time.Hour})
	s := p.first()
	p.wantErr(s, "get "+path+": no such file or directory")
	write(t, path, "a")
	p.wantErr(p.after(time.Minute), "")
	before, err := os.Stat(path)
	do(t, err)
	write(t, path, "b")
	do(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
	p.after(time.Hour)
	p.after(time.Hour)
	do(t, os.Remove(path))
	p.wantErr(p.after(time.Hour), "no such file or directory; the copy from 60m ago stays in effect")
	p.wantDelivered("a", "b")
	write(t, path, "c")
	p.wantErr(p.after(time.Minute), "")
	p.wantDelivered("a", "b", "c")
}

func reportsWhatCannotBeReadAsAFile(t *testing.T) {
	folder := t.TempDir()
	pipe, large := filepath.Join(folder, "pipe"), filepath.Join(folder, "large")
	do(t, unix.Mkfifo(pipe, 0o600))
	write(t, large, strings.Repeat("a", 1<<10+1))
	for path, want := range map[string]string{
		folder:       "get " + folder + ": not a regular file",
		pipe:         "get " + pipe + ": not a regular file",
		large:        "get " + large + ": larger than 1024 bytes",
		pipe + "/no": "get " + pipe + "/no: not a directory",
	} {
		p := poll(t, Feed{Name: "file", Place: Place{File: path}})
		p.wantErr(p.first(), want)
	}
}
