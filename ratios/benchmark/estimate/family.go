package estimate

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// mostModels is how many CPU models of a node type are looked at by themselves.
// Each of them is compared with each other and resampled, so that names that
// somebody has made up would cost the square of their number. No cloud has half as
// many CPUs under one type.
const mostModels = 32

// family is a node type: its machines but for odd ones, and those with each CPU
// model.
type family struct {
	all *pool
	// named are the CPU models that are looked at by themselves, by name, unknown
	// the machines whose model is not known, nil if there are none.
	named   []model
	unknown *model
}

// model is the machines of a family that have one CPU model.
type model struct {
	label    string
	machines int
	// credible tells that they are enough to say that this CPU is another one: as
	// many as a ratio needs, or a third of the type's. One of many may be broken or
	// lie about its CPU, and must not hold back what all others say.
	credible bool
	*pool
}

// families puts aggregates together by node type. CPU models whose names are too
// long to be told apart in node types are one.
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

// foremost are those of the models with the most machines, the first by name where
// these are as many. The baseline is always among them: everything is compared with
// it.
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

// find returns the pool of a name: that of a node type, or of one with a CPU
// model. The family is nil unless the name is that of all of it.
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
