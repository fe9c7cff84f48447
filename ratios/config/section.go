package config

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// section holds the values that can be set for all pods and for the pods of a rule.
type section struct {
	baseline string
	ratios   map[string]ratios.Ratio
	// maxSpeedRatio is 0 if it is not set.
	maxSpeedRatio float64
	settings      keys.Partial[policy.Settings]
}

func (s *section) isEmpty() bool {
	return s.baseline == "" && len(s.ratios) == 0 && s.maxSpeedRatio == 0 && s.settings.IsEmpty()
}

// known returns the keys of a section.
func (s *section) known() reader.Known {
	s.ratios = map[string]ratios.Ratio{}
	known := s.settings.Known()
	known["baselineNodeType"] = read(&s.baseline, keys.Text)
	known["nodeTypes"] = func(v reader.Value) {
		v.Each(func(nodeType string, v reader.Value) {
			policy.CheckNodeType(v, nodeType)
			s.ratios[nodeType] = ratio(v)
		})
	}
	known["maxSpeedRatio"] = read(&s.maxSpeedRatio, speedRatio)
	return known
}

// perf is a performance, and speedRatio a maximum speed ratio.
var (
	perf       = keys.Number("above 0", "must be a finite number above 0", ratios.ValidPerf)
	speedRatio = keys.Number("from 1", fmt.Sprintf("must be a finite number of at least 1, such as %d", ratios.DefaultMaxSpeedRatio), ratios.ValidMaxSpeedRatio)
)

// read reads a value of a kind.
func read[V any](into *V, kind keys.Kind[V]) func(reader.Value) {
	return func(v reader.Value) {
		if value, ok := kind.Read(v); ok {
			*into = value
		}
	}
}

func ratio(v reader.Value) (r ratios.Ratio) {
	if !v.Fields(reader.Known{"cpuPerf": read(&r.CPUPerf, perf), "memPerf": read(&r.MemoryPerf, perf)}) {
		return r
	}
	if r.CPUPerf == 0 {
		v.KeyFault("cpuPerf", "must be set")
	}
	if r.MemoryPerf == 0 {
		v.KeyFault("memPerf", "must be set")
	}
	return r
}

// from sets the provenance of the section's ratios and returns them.
func (s *section) from(p ratios.Provenance) map[string]ratios.Ratio {
	for nodeType, r := range s.ratios {
		r.Provenance = p
		s.ratios[nodeType] = r
	}
	return s.ratios
}
