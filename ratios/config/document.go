package config

import (
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// document is config.yaml as it is written.
type document struct {
	globals section
	// In the order of precedence.
	overrides, annotations, labels, classes []*rule
}

func (r *reader) document(n *yaml.Node) *document {
	d := &document{}
	keys := r.section(&d.globals)
	keys["overrides"] = r.overrides(&d.overrides)
	keys["podAnnotations"] = r.byValue(&d.annotations, annotationKey, annotationValue, func(key, value string) ratios.Match {
		return ratios.Match{Annotations: map[string]string{key: value}}
	})
	keys["podLabels"] = r.byValue(&d.labels, labelKey, labelValue, func(key, value string) ratios.Match {
		return ratios.Match{Labels: map[string]string{key: value}}
	})
	keys["computeClasses"] = r.byName(&d.classes, labelValue, func(class string) ratios.Match {
		return ratios.Match{ComputeClass: class}
	})
	r.fields("", n, keys)
	return d
}

// rules are all rules, the one that decides first at the front.
func (d *document) rules() []*rule {
	return slices.Concat(d.overrides, d.annotations, d.labels, d.classes)
}

// check adds what does not fit together: baselines without a ratio, and bounds
// that leave nothing, after the globals have filled in what a rule leaves out.
func (d *document) check(f *Faults) {
	g := &d.globals
	if g.baseline == "" {
		f.add("baselineNodeType", "must be set")
	} else if _, ok := g.ratios[g.baseline]; !ok {
		f.add("baselineNodeType", "%q is not one of the nodeTypes", g.baseline)
	}
	g.cpu.check(f, "bounds.cpu")
	g.memory.check(f, "bounds.memory")
	for _, r := range d.rules() {
		_, own := r.ratios[r.baseline]
		_, global := g.ratios[r.baseline]
		if r.baseline != "" && !own && !global {
			f.add(join(r.path, "baselineNodeType"), "%q is not one of the nodeTypes, of the rule or of all", r.baseline)
		}
		r.cpu.checkOver(g.cpu, f, r.path+".bounds.cpu")
		r.memory.checkOver(g.memory, f, r.path+".bounds.memory")
	}
}

func (e ends) check(f *Faults, path string) {
	if above(e.min, e.max) {
		f.add(path, "min %s > max %s", e.min, e.max)
	}
}

// checkOver checks the ends of a rule, with those of the globals for what it
// leaves out. It says nothing of the globals alone.
func (e ends) checkOver(globals ends, f *Faults, path string) {
	switch {
	case e.min != nil && e.max != nil:
		e.check(f, path)
	case e.min != nil && above(e.min, globals.max):
		f.add(path, "min %s > max %s, the global one", e.min, globals.max)
	case e.max != nil && above(globals.min, e.max):
		f.add(path, "min %s, the global one, > max %s", globals.min, e.max)
	}
}

func above(low, high *resource.Quantity) bool {
	return low != nil && high != nil && low.Cmp(*high) > 0
}

// layer is the document for the store.
func (d *document) layer() *ratios.Layer {
	g := &d.globals
	layer := &ratios.Layer{Baseline: g.baseline, Ratios: g.ratios, Bounds: &ratios.Bounds{}}
	*layer.Bounds = g.bounds().Over(*layer.Bounds)
	for _, r := range d.rules() {
		layer.Rules = append(layer.Rules, ratios.Rule{Name: r.String(), Match: r.match, Baseline: r.baseline, Ratios: r.ratios, Bounds: r.bounds()})
	}
	return layer
}
