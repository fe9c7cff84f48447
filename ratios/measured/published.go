package measured

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/pace"
)

// Key is the only key of a ConfigMap with a published state.
const Key = "ratios.json"

// leastRatio and mostRatio are the widest range that settings allow for ratios. A ratio
// outside of it cannot come from a judgment.
const leastRatio, mostRatio = 0.01, 100

// Published is the published state: the ratios, and what is remembered between judgments. It is
// immutable.
type Published struct {
	NodeTypes map[string]Entry `json:"nodeTypes,omitempty"`
}

// Entry is the published state of one node type.
type Entry struct {
	pace.State
	// Why explains to users what the ratio was computed from when it last changed.
	Why string `json:"why,omitempty"`
}

// Check returns what is wrong with the published state.
func (p Published) Check() document.Faults {
	var faults document.Faults
	for _, name := range slices.Sorted(maps.Keys(p.NodeTypes)) {
		e := p.NodeTypes[name]
		if name == "" || e.Baseline == "" {
			faults = append(faults, fmt.Errorf("%s: nodeTypes[%q]: must have a name and a baseline", Key, name))
		}
		if e.Ratio != 0 && Publishable(e.Ratio) != e.Ratio {
			faults = append(faults, fmt.Errorf("%s: nodeTypes[%q].ratio: must be from %v to %v, or 0 for none, not %v", Key, name, leastRatio, mostRatio, e.Ratio))
		}
	}
	return faults
}

// Parse reads the data of a ConfigMap into a state, which is unchanged if there is no data. Keys of a later version are an error: without them, ratios
// might move otherwise.
func Parse(data map[string]string, into any) error {
	err := document.Decode(data[Key], into)
	if _, unknown := errors.AsType[document.Faults](err); unknown {
		return fmt.Errorf("%s: %w: if a later version has stored this, upgrade to it again, or remove the key %s, which ends the ratios in it", Key, err, Key)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", Key, err)
	}
	return nil
}

// Format returns the data that Parse reads, with line breaks that make diffs readable.
func Format(state any) (map[string]string, error) {
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write measured ratios: %w", err)
	}
	return map[string]string{Key: string(text) + "\n"}, nil
}

// Publishable returns the nearest ratio that can be published.
func Publishable(ratio float64) float64 { return min(max(ratio, leastRatio), mostRatio) }

// Layer returns the published ratios as a layer of a source. It ignores ratios whose baseline is
// not the baseline of the last judgment.
func (p Published) Layer(source, author string) *ratios.Layer {
	l := &ratios.Layer{Ratios: map[string]ratios.Ratio{}, RelativeTo: p.baseline()}
	for name, e := range p.NodeTypes {
		if e.Ratio > 0 && e.Baseline == l.RelativeTo {
			l.Ratios[name] = ratios.Ratio{CPUPerf: rounded(e.Ratio, wayDigits), Provenance: ratios.Provenance{Source: source, UpdateTime: e.Changed, Author: author, Reason: e.Why}}
		}
	}
	return l
}

// baseline returns the baseline of the last judgment.
func (p Published) baseline() string {
	var last Entry
	for _, name := range slices.Sorted(maps.Keys(p.NodeTypes)) {
		if e := p.NodeTypes[name]; last.Baseline == "" || e.Judged.After(last.Judged) {
			last = e
		}
	}
	return last.Baseline
}

// Ended are node types that are no longer published, with the end of the last window in which they were judged: they start
// again only in a later window.
type Ended map[string]time.Time

// Note adds the node types that are no longer published.
func (e Ended) Note(before, now Published) {
	for name, entry := range before.NodeTypes {
		if _, still := now.NodeTypes[name]; !still {
			e[name] = entry.Judged
		}
	}
}
