package fetch

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// file is a feed in a file. It is read each time: times and sizes do not tell
// every change.
type file struct {
	path string
	most int64
}

func (f *file) get(context.Context, bool) ([]byte, error) {
	// Before it is opened: a pipe could block that for ever.
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		return nil, cause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
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

// cause is an error without the path, which is said anyway.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
