package fetch

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// file is a feed in a file. It is always read in full: times and sizes do not reveal every
// change.
type file struct {
	path string
	most int64
}

func (f *file) get(context.Context, bool) ([]byte, error) {
	// Check the type before opening the file: opening a pipe could block forever.
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		return nil, cause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > f.most:
		return nil, tooLarge(f.most)
	}
	r, err := os.Open(f.path)
	if err != nil {
		return nil, cause(err)
	}
	defer func() { _ = r.Close() }()
	content, err := readAll(r, f.most)
	return content, cause(err)
}

// cause returns an error without the path, which the message contains anyway.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
