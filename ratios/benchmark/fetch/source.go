package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// source gets the content of a feed.
type source interface {
	// get returns the content. Unless whole is set, it may return errUnchanged:
	// the content is the same as it returned last.
	get(ctx context.Context, whole bool) ([]byte, error)
}

var errUnchanged = errors.New("unchanged")

func (p *Poller) source(f *Place, insecure bool) source {
	switch {
	case f.File != "":
		return &file{f.File, p.maxBytes}
	case f.ConfigMap != "":
		return &configMap{p.config.Client, p.config.Namespace, f.ConfigMap, f.Key}
	}
	return newWeb(f.URL, insecure, p)
}

// readAll reads to the end, unless the content is larger than most.
func readAll(r io.Reader, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, tooLarge(most)
	}
	return content, err
}

func tooLarge(most int64) error { return fmt.Errorf("larger than %d bytes", most) }
