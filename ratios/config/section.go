package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// section is what can be said of all pods, and of the pods of a rule.
type section struct {
	baseline    string
	ratios      map[string]ratios.Ratio
	cpu, memory ends
}

func (s *section) isEmpty() bool {
	return s.baseline == "" && len(s.ratios) == 0 && s.cpu == (ends{}) && s.memory == (ends{})
}

// section reads the keys of a section.
func (r *reader) section(into *section) map[string]read {
	into.ratios = map[string]ratios.Ratio{}
	return map[string]read{
		"baselineNodeType": r.text(&into.baseline),
		"nodeTypes": func(path string, n *yaml.Node) {
			r.each(path, n, func(path, nodeType string, n *yaml.Node) {
				if nodeType == "" {
					r.faults.add(path, "line %d: a node type needs a name", n.Line)
				} else if problems := nodetype.NameProblems(nodeType); len(problems) > 0 {
					r.faults.add(path, "line %d: no node can have it: %s", n.Line, strings.Join(problems, ", "))
				}
				into.ratios[nodeType] = r.ratio(path, n)
			})
		},
		"bounds": func(path string, n *yaml.Node) {
			r.fields(path, n, map[string]read{
				"cpu":    r.ends(&into.cpu, cpuBound),
				"memory": r.ends(&into.memory, memoryBound),
			})
		},
	}
}

func (r *reader) ratio(path string, n *yaml.Node) ratios.Ratio {
	ratio := ratios.Ratio{Provenance: r.from}
	before := len(r.faults)
	r.fields(path, n, map[string]read{
		"cpuPerf": r.perf(&ratio.CPUPerf),
		"memPerf": r.perf(&ratio.MemoryPerf),
	})
	if len(r.faults) > before {
		return ratio
	}
	if ratio.CPUPerf == 0 {
		r.faults.add(join(path, "cpuPerf"), "must be set")
	}
	if ratio.MemoryPerf == 0 {
		r.faults.add(join(path, "memPerf"), "must be set")
	}
	return ratio
}

// override is the ends as amounts.
func (e ends) override(amount func(*resource.Quantity) int64) ratios.RangeOverride {
	of := func(q *resource.Quantity) *int64 {
		if q == nil {
			return nil
		}
		v := amount(q)
		return &v
	}
	return ratios.RangeOverride{Min: of(e.min), Max: of(e.max)}
}

// bounds are those of the section, in millicores and bytes.
func (s *section) bounds() ratios.BoundsOverride {
	return ratios.BoundsOverride{CPU: s.cpu.override((*resource.Quantity).MilliValue), Memory: s.memory.override((*resource.Quantity).Value)}
}
