package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
	"github.com/workload-resizer/workload-resizer/agent/measure"
)

// tolerance is how much a spot check may differ from the last full run. Repeated runs on one
// machine usually differ by less than 1%. On a few machines in a hundred, they differ by more
// than the tolerance.
const tolerance = 0.10

// fullPeriod is how long a full run is valid. Spot checks never determine a ratio, and samples
// stop counting after 90 days. Without a new full run, a long-running node would end up like
// one that was never measured.
const fullPeriod = 30 * 24 * time.Hour

// memory describes the earlier runs of the agent.
type memory struct {
	// Last is when the last run began.
	Last time.Time `json:"last"`
	// Full is when the last full run began, and Version is the version of its kernels.
	Full    time.Time `json:"full"`
	Version string    `json:"version"`
	// Single has the single-thread scores of the last full run, by kernel.
	Single map[string]float64 `json:"single"`
	// Doubted reports whether a later spot check disagreed with them.
	Doubted bool `json:"doubted,omitempty"`
}

// wantsFull reports whether the next run must be a full run.
func (m *memory) wantsFull() bool {
	return m.Version != kernel.Version() || m.Doubted || time.Since(m.Full) >= fullPeriod
}

// learn records a run.
func (m *memory) learn(began time.Time, full bool, scores []measure.Score) {
	m.Last = began
	if full {
		m.Full, m.Version, m.Single, m.Doubted = began, kernel.Version(), map[string]float64{}, false
	}
	for _, s := range scores {
		before, known := m.Single[s.Kernel.Name]
		switch {
		case full:
			m.Single[s.Kernel.Name] = s.Single
		case known && math.Abs(s.Single/before-1) > tolerance:
			m.Doubted = true
		}
	}
}

// load reads the memory. It is empty if the file does not exist or is not readable; the next
// run is then a full run. It is also empty if the clock was ahead when it was saved: otherwise,
// the node would not be measured until that time.
func load(file string) (memory, error) {
	var m memory
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &m)
	}
	if err != nil {
		return memory{}, fmt.Errorf("read the state of earlier runs: %w", err)
	}
	if m.Last.After(time.Now()) {
		return memory{}, nil
	}
	return m, nil
}

// save writes the memory atomically.
func (m *memory) save(file string) error {
	if file == "" {
		return nil
	}
	content, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(file+".new", content, 0o600)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		return fmt.Errorf("save the state of this run: %w", err)
	}
	return nil
}
