package config

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// section holds the values that can be set for all pods and for the pods of a rule.
type section struct {
	baseline    string
	ratios      map[string]ratios.Ratio
	cpu, memory ends
	// maxSpeedRatio is 0 if it is not set.
	maxSpeedRatio float64
	demand        policy.Demand
	guard         policy.Guard
}

func (s *section) isEmpty() bool {
	return s.baseline == "" && len(s.ratios) == 0 && s.cpu == (ends{}) && s.memory == (ends{}) && s.maxSpeedRatio == 0 && s.demand.IsEmpty() && s.guard.IsEmpty()
}

// keys returns the keys of a section.
func (s *section) keys() reader.Known {
	s.ratios = map[string]ratios.Ratio{}
	return reader.Known{
		"baselineNodeType": text(&s.baseline),
		"nodeTypes": func(v reader.Value) {
			v.Each(func(nodeType string, v reader.Value) {
				checkNodeType(v, nodeType)
				s.ratios[nodeType] = ratio(v)
			})
		},
		"bounds": func(v reader.Value) {
			v.Fields(reader.Known{"cpu": s.cpu.read(cpuBound), "memory": s.memory.read(memoryBound)})
		},
		"maxSpeedRatio": speedRatio(&s.maxSpeedRatio),
		"demand":        readDemand(&s.demand),
		"guard":         readGuard(&s.guard),
	}
}

// checkNodeType adds a fault if a key is not the name of a node type.
func checkNodeType(v reader.Value, name string) {
	if name == "" {
		v.Fault("the name of a node type must not be empty")
	} else if problems := nodetype.NameProblems(name); len(problems) > 0 {
		v.Fault("not a valid node type: %s", strings.Join(problems, ", "))
	}
}

func ratio(v reader.Value) (r ratios.Ratio) {
	if !v.Fields(reader.Known{"cpuPerf": perf(&r.CPUPerf), "memPerf": perf(&r.MemoryPerf)}) {
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

// override returns the ends as amounts.
func (e ends) override(amount func(*resource.Quantity) int64) policy.RangeOverride {
	of := func(q *resource.Quantity) *int64 {
		if q == nil {
			return nil
		}
		v := amount(q)
		return &v
	}
	return policy.RangeOverride{Min: of(e.min), Max: of(e.max)}
}

// settings returns what the section sets besides ratios.
func (s *section) settings() policy.Settings {
	bounds := policy.BoundsOverride{CPU: s.cpu.override(cpuBound.amount), Memory: s.memory.override(memoryBound.amount)}
	return policy.Settings{Bounds: bounds, Demand: s.demand, Guard: s.guard}
}
