package estimate

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// mostModels limits how many CPU models of a node type are evaluated separately. All of them
// are compared with each other, so that the cost of made-up names would be quadratic. No cloud has half as many CPUs under one type.
const mostModels = 32

// family is a node type: all its machines except for odd ones, and the machines of each CPU
// model.
type family struct {
	all *pool
	// named are the CPU models that are evaluated separately, by name. unknown has
	// the machines whose model is not known; nil if there are none.
	named   []model
	unknown *model
}

// model has the machines of a family with the same CPU model.
type model struct {
	label    string
	machines int
	// credible means that the machines are enough to show that this CPU differs:
	// as many as a ratio needs, or a third of the node type's. A single machine of
	// many may be broken or lie about its CPU, and must not hold back the estimate of
	// all others.
	credible bool
	*pool
}

// families groups aggregates by node type. CPU models whose names are too long to be
// distinguished in node types are combined.
func families(aggregates []Aggregate, baseline string, s *Settings) map[string]*family {
	all := make(map[string][]*Aggregate)
	byName := make(map[string]map[string][]*Aggregate)
	for i := range aggregates {
		a := &aggregates[i]
		if len(a.scores) == 0 {
			continue
		}
		if byName[a.NodeType] == nil {
			byName[a.NodeType] = make(map[string][]*Aggregate)
		}
		name := nodetype.WithModel(a.NodeType, a.CPUModel)
		byName[a.NodeType][name] = append(byName[a.NodeType][name], a)
		all[a.NodeType] = append(all[a.NodeType], a)
	}
	families := make(map[string]*family, len(all))
	for nodeType, aggregates := range all {
		f := &family{}
		odd := make(map[*Aggregate]bool)
		of := measuredOn(aggregates)
		for _, name := range slices.Sorted(maps.Keys(byName[nodeType])) {
			parts := byName[nodeType][name]
			have := measuredOn(parts)
			_, label := nodetype.SplitModel(name)
			m := model{label, have, have >= s.MinMachines || 3*have >= of, newPool(name, parts)}
			for _, a := range parts {
				if !m.credible {
					odd[a] = true
				}
			}
			if label != "" {
				f.named = append(f.named, m)
			} else {
				f.unknown = &m
			}
		}
		f.named = foremost(f.named, baseline)
		f.all = newPool(nodeType, withoutOutliers(aggregates, odd, s))
		families[nodeType] = f
	}
	return families
}

// foremost returns the models with the most machines; models with the same number are chosen by
// name. The baseline is always included, because everything is compared with it.
func foremost(models []model, baseline string) []model {
	rank := func(m model) int {
		if m.name == baseline {
			return math.MaxInt
		}
		return m.machines
	}
	slices.SortStableFunc(models, func(a, b model) int { return cmp.Compare(rank(b), rank(a)) })
	models = models[:min(len(models), mostModels)]
	slices.SortFunc(models, func(a, b model) int { return cmp.Compare(a.name, b.name) })
	return models
}

// find returns the pool of a name, which is a node type or a CPU model of one. The family is
// nil unless the name is a node type.
func find(families map[string]*family, name string) (*pool, *family) {
	nodeType, label := nodetype.SplitModel(name)
	f := families[nodeType]
	switch {
	case f == nil:
		return &pool{name: name}, nil
	case label == "":
		return f.all, f
	}
	for _, m := range f.named {
		if m.name == name {
			return m.pool, nil
		}
	}
	return &pool{name: name}, nil
}
