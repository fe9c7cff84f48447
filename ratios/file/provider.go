package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
)

// Source is the name of this source.
const Source = "file"

// period is how often the file is read. Only its content shows a change reliably: two changes
// can have the same modification time, and a mounted ConfigMap is a symbolic link that changes
// its target.
const period = 250 * time.Millisecond

// mostBytes is the maximum size of the file: the same as for a ConfigMap.
const mostBytes = 1 << 20

// Provider reads the ratios from one file.
type Provider struct{ path string }

var _ ratios.Provider = (*Provider)(nil)

// New returns a provider for the file at path.
func New(path string) *Provider { return &Provider{path} }

// Name implements ratios.Provider.
func (p *Provider) Name() string { return Source }

// Run implements ratios.Provider.
func (p *Provider) Run(ctx context.Context, report func(ratios.Update)) error {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	var last state
	var good *ratios.Layer // The last good layer.
	for first := true; ; first = false {
		now := p.read()
		if first || !now.same(&last) {
			update := now.update(p.path)
			if update.Layer != nil {
				update.Layer.KeepProvenance(good)
				good = update.Layer
			}
			report(update)
		}
		last = now
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// state is the state of the file at one time: its text, or the error of reading it.
type state struct {
	text     []byte
	modified time.Time
	err      error
}

func (s *state) same(o *state) bool {
	if s.err != nil || o.err != nil {
		return s.err != nil && o.err != nil && s.err.Error() == o.err.Error()
	}
	return bytes.Equal(s.text, o.text)
}

func (p *Provider) read() state {
	f, err := os.Open(p.path)
	if errors.Is(err, os.ErrNotExist) {
		return state{err: fmt.Errorf("%s does not exist", p.path)}
	}
	if err != nil {
		return state{err: fmt.Errorf("read ratios: %w", err)}
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return state{err: fmt.Errorf("read ratios: %w", err)}
	}
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	switch {
	case err != nil:
		return state{err: fmt.Errorf("read ratios: %w", err)}
	case len(text) > mostBytes:
		return state{err: fmt.Errorf("%s has more than %d bytes", p.path, mostBytes)}
	}
	return state{text: text, modified: info.ModTime()}
}

func (s *state) update(path string) ratios.Update {
	if s.err != nil {
		return ratios.Update{Err: s.err}
	}
	layer, err := config.Parse(s.text, ratios.Provenance{Source: Source, UpdateTime: s.modified.UTC()})
	if err != nil {
		return ratios.Update{Err: fmt.Errorf("%s: %w", path, err)}
	}
	return ratios.Update{Layer: layer}
}
