package ratios

import (
	"cmp"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// isRelative reports whether the performances in the layer are multiples of a node type's.
func (l *Layer) isRelative() bool { return l != nil && l.RelativeTo != "" }

// absolute returns the layers with the ratios of relative layers converted to the unit of the
// others. Only layers that are not relative set the baseline and the ratio of the node type
// that a layer is relative to.
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

// times converts the relative layer at index place to the unit of the fixed layers. It returns
// nil if no fixed layer names the node type that the layer is relative to.
//
// A lookup tries a CPU model before its node type. If a layer above names the node type, that
// ratio must also apply to machines with the model, so the model's ratio is dropped. A model
// has the memory performance of its node type unless a layer names the model.
func (l *Layer) times(fixed []*Layer, place int, baseline string) *Layer {
	unit, ok := lookup(fixed, l.RelativeTo)
	if !ok {
		return nil
	}
	above, below := fixed[:place], fixed[place:]
	return &Layer{Ratios: l.inUnit(l.Ratios, unit, above, below, baseline), Observed: l.inUnit(l.Observed, unit, above, below, baseline)}
}

// inUnit converts ratios of a relative layer.
func (l *Layer) inUnit(of map[string]Ratio, unit Ratio, above, below []*Layer, baseline string) map[string]Ratio {
	ratios := maps.Clone(of)
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
	return ratios
}

// lookup returns the ratio from the first layer that names the node type.
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
