package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path"
)

// entry is a file in a tar.
type entry struct {
	name    string
	mode    int64
	content []byte
}

// tarred packs files, with r.created as the only time and root as the owner.
func (r *release) tarred(entries []entry) ([]byte, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, e := range entries {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.content)), ModTime: r.created, Format: tar.FormatPAX}); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return packed.Bytes(), err
}

// gzipped compresses content, without a name or a time.
func gzipped(content []byte) ([]byte, error) {
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err := w.Close()
	return compressed.Bytes(), err
}

// entries returns the files below a folder in the order of their names, which get a prefix. It
// omits the folders to skip.
func entries(dir, prefix string, skip ...string) (all []entry, err error) {
	root := os.DirFS(dir)
	err = fs.WalkDir(root, ".", func(name string, found fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if found.IsDir() {
			for _, folder := range skip {
				if name == folder {
					return fs.SkipDir
				}
			}
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		all = append(all, entry{name: path.Join(prefix, name), mode: 0o644, content: content})
		return nil
	})
	return all, err
}
