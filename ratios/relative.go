package ratios

import (
	"cmp"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// isRelative tells whether the performances of the layer are multiples of those of
// a node type.
func (l *Layer) isRelative() bool { return l != nil && l.RelativeTo != "" }

// absolute returns the layers with the ratios of relative ones in the unit of the
// others. These decide of the node type that a layer is relative to, and of the
// baseline: a relative layer says nothing of them.
func absolute(layers []*Layer) []*Layer {
	if !slices.ContainsFunc(layers, (*Layer).isRelative) {
		return layers
	}
	fixed, baseline := slices.Clone(layers), ""
	for i, l := range fixed {
		if l.isRelative() {
			fixed[i] = nil
		} else if l != nil {
			baseline = cmp.Or(baseline, l.Baseline)
		}
	}
	all := slices.Clone(fixed)
	for i, l := range layers {
		if l.isRelative() {
			all[i] = l.times(fixed, i, baseline)
		}
	}
	return all
}

// times returns the relative layer in the unit of the fixed ones, of which those
// before the given place come before it; nil if none of them names what it is
// relative to.
//
// A CPU model of a node type is asked for before the type. Where a layer that comes
// before names the type, the machines with that model are as it says, too; and
// their memory is as that of the type, unless the model is named.
func (l *Layer) times(fixed []*Layer, place int, baseline string) *Layer {
	above, below := fixed[:place], fixed[place:]
	unit, ok := lookup(fixed, l.RelativeTo)
	if !ok {
		return nil
	}
	ratios := maps.Clone(l.Ratios)
	delete(ratios, l.RelativeTo)
	delete(ratios, baseline)
	for name, r := range ratios {
		family, model := nodetype.SplitModel(name)
		if _, decided := lookup(above, family); decided && model != "" {
			delete(ratios, name)
			continue
		}
		r.CPUPerf = product(r.CPUPerf, unit.CPUPerf)
		if r.MemoryPerf != 0 {
			r.MemoryPerf = product(r.MemoryPerf, unit.MemoryPerf)
		} else if other, ok := lookup(below, name); ok {
			r.MemoryPerf = other.MemoryPerf
		} else if other, ok := lookup(below, family); ok {
			r.MemoryPerf = other.MemoryPerf
		} else {
			r.MemoryPerf = unit.MemoryPerf
		}
		if ratios[name] = r; !ValidPerf(r.CPUPerf) || !ValidPerf(r.MemoryPerf) {
			delete(ratios, name)
		}
	}
	return &Layer{Ratios: ratios}
}

// lookup returns what the first layer that names the node type says of it.
func lookup(layers []*Layer, nodeType string) (Ratio, bool) {
	for _, l := range layers {
		if l == nil {
			continue
		}
		if ratio, ok := l.Ratios[nodeType]; ok {
			return ratio, true
		}
	}
	return Ratio{}, false
}
