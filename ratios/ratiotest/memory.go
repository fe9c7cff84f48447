package ratiotest

import (
	"context"
	"sync"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// Memory is a provider whose source has the state that was set last.
type Memory struct {
	name string

	mu      sync.Mutex
	state   ratios.Update
	changed chan struct{}
}

// NewMemory returns a provider with the given initial state.
func NewMemory(name string, state ratios.Update) *Memory {
	return &Memory{name: name, state: state, changed: make(chan struct{})}
}

// Name implements ratios.Provider.
func (m *Memory) Name() string { return m.name }

// Set replaces the state of the source.
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
