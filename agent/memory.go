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

// tolerance is by how much a spot check may differ from the last full run. Repeated
// runs of one machine differ by less than a percent most of the time, and by more
// than this on a few machines in a hundred.
const tolerance = 0.10

// fullPeriod is how long a full run is good for: a spot check never decides, and
// samples stop to count after 90 days, so that without a new one a node that runs
// for long would be as if it had never been measured.
const fullPeriod = 30 * 24 * time.Hour

// memory is what is known of earlier runs.
type memory struct {
	// Last is when the last run was.
	Last time.Time `json:"last"`
	// Full is when the last full run was, and Version that of its kernels.
	Full    time.Time `json:"full"`
	Version string    `json:"version"`
	// Single are its scores of one thread, by kernel.
	Single map[string]float64 `json:"single"`
	// Doubted tells that a spot check did not agree with them.
	Doubted bool `json:"doubted,omitempty"`
}

// wantsFull tells that there has to be a full run.
func (m *memory) wantsFull() bool {
	return m.Version != kernel.Version() || m.Doubted || time.Since(m.Full) >= fullPeriod
}

// learn takes a run into account.
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

// load reads the memory; there is none if there is no such file. What
// cannot be read is forgotten: then there is a full run.
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
		return memory{}, fmt.Errorf("remember earlier runs: %w", err)
	}
	return m, nil
}

// save writes the memory, all of it or nothing.
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
		return fmt.Errorf("remember this run: %w", err)
	}
	return nil
}
