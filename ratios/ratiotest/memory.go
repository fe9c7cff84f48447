package ratiotest

import (
	"context"
	"sync"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Memory is a provider whose source is whatever it was last told.
type Memory struct {
	name string

	mu      sync.Mutex
	state   ratios.Update
	changed chan struct{}
}

// NewMemory returns a provider whose source says this at first.
func NewMemory(name string, state ratios.Update) *Memory {
	return &Memory{name: name, state: state, changed: make(chan struct{})}
}

// Name implements ratios.Provider.
func (m *Memory) Name() string { return m.name }

// Set makes the source say this from now on.
func (m *Memory) Set(state ratios.Update) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = state
	close(m.changed)
	m.changed = make(chan struct{})
}

// Run implements ratios.Provider.
func (m *Memory) Run(ctx context.Context, report func(ratios.Update)) error {
	for {
		m.mu.Lock()
		state, changed := m.state, m.changed
		m.mu.Unlock()
		report(state)
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}
