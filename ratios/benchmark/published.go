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

// publishedKey is the one key of the ConfigMap with what is published.
const publishedKey = "ratios.json"

// leastRatio and mostRatio are what settings let ratios be held between at most.
// What is beyond was not judged by anybody.
const leastRatio, mostRatio = 0.01, 100

// Published is what the source says, and what is remembered between judgements.
// Nobody changes it once it is made.
type Published struct {
	NodeTypes map[string]Entry `json:"nodeTypes,omitempty"`
}

// Entry is one node type of what is published.
type Entry struct {
	pace.State
	// Why tells people what the ratio was made of when it last changed.
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
			faults = append(faults, fmt.Errorf("%s: nodeTypes[%q]: needs a name and a baseline", publishedKey, name))
		}
		if e.Ratio != 0 && Publishable(e.Ratio) != e.Ratio {
			faults = append(faults, fmt.Errorf("%s: nodeTypes[%q].ratio: must be from %v to %v, or 0 for none, not %v", publishedKey, name, leastRatio, mostRatio, e.Ratio))
		}
	}
	return p, faults.Err()
}

// Publishable is the ratio nearest to a given one that can be published.
func Publishable(ratio float64) float64 { return min(max(ratio, leastRatio), mostRatio) }

// format is what parsePublished reads, in lines that people can compare.
func (p Published) format() (map[string]string, error) {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the measured ratios: %w", err)
	}
	return map[string]string{publishedKey: string(text) + "\n"}, nil
}

// layer is what is published as a source of ratios says it. Ratios to another
// baseline than those that were judged last do not count.
func (p Published) layer() *ratios.Layer {
	l := &ratios.Layer{Ratios: map[string]ratios.Ratio{}, RelativeTo: p.baseline()}
	for name, e := range p.NodeTypes {
		if e.Ratio > 0 && e.Baseline == l.RelativeTo {
			l.Ratios[name] = ratios.Ratio{CPUPerf: rounded(e.Ratio, wayDigits), Provenance: ratios.Provenance{Source: Source, UpdateTime: e.Changed, Author: "benchmarks", Reason: e.Why}}
		}
	}
	return l
}

// baseline is the one of what was judged last.
func (p Published) baseline() string {
	var last Entry
	for _, name := range slices.Sorted(maps.Keys(p.NodeTypes)) {
		if e := p.NodeTypes[name]; last.Baseline == "" || e.Judged.After(last.Judged) {
			last = e
		}
	}
	return last.Baseline
}
