package benchmark

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/pace"
)

// publishedKey is the only key of the ConfigMap with the published state.
const publishedKey = "ratios.json"

// leastRatio and mostRatio are the widest range that the settings allow for ratios. A ratio
// outside of it cannot come from the judge.
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

// parsePublished reads the data of the ConfigMap.
func parsePublished(data map[string]string) (Published, error) {
	var p Published
	if err := document.Decode(data[publishedKey], &p); err != nil {
		return Published{}, fmt.Errorf("%s: %w", publishedKey, err)
	}
	var faults document.Faults
	for _, name := range slices.Sorted(maps.Keys(p.NodeTypes)) {
		e := p.NodeTypes[name]
		if name == "" || e.Baseline == "" {
			faults = append(faults, fmt.Errorf("%s: nodeTypes[%q]: must have a name and a baseline", publishedKey, name))
		}
		if e.Ratio != 0 && Publishable(e.Ratio) != e.Ratio {
			faults = append(faults, fmt.Errorf("%s: nodeTypes[%q].ratio: must be from %v to %v, or 0 for none, not %v", publishedKey, name, leastRatio, mostRatio, e.Ratio))
		}
	}
	return p, faults.Err()
}

// Publishable returns the nearest ratio that can be published.
func Publishable(ratio float64) float64 { return min(max(ratio, leastRatio), mostRatio) }

// format returns the data that parsePublished reads, with line breaks that make diffs readable.
func (p Published) format() (map[string]string, error) {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write measured ratios: %w", err)
	}
	return map[string]string{publishedKey: string(text) + "\n"}, nil
}

// layer returns the published ratios as a layer. It ignores ratios whose baseline is
// not the baseline of the last judgment.
func (p Published) layer() *ratios.Layer {
	l := &ratios.Layer{Ratios: map[string]ratios.Ratio{}, RelativeTo: p.baseline()}
	for name, e := range p.NodeTypes {
		if e.Ratio > 0 && e.Baseline == l.RelativeTo {
			l.Ratios[name] = ratios.Ratio{CPUPerf: rounded(e.Ratio, wayDigits), Provenance: ratios.Provenance{Source: Source, UpdateTime: e.Changed, Author: "benchmarks", Reason: e.Why}}
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
