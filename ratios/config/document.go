package config

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// document is config.yaml as it is written.
type document struct {
	globals section
	cluster policy.Cluster
	// In order of precedence.
	overrides, annotations, labels, classes []*rule
}

func readDocument(v reader.Value) *document {
	d := &document{}
	keys := d.globals.keys()
	keys["pace"] = readPace(&d.cluster.Pace)
	keys["prices"] = readPrices(&d.cluster.Prices)
	keys["overrides"] = overrides(&d.overrides)
	keys["podAnnotations"] = byValue(&d.annotations, annotationKey, annotationValue, func(key, value string) policy.Criteria {
		return policy.Criteria{Annotations: map[string]string{key: value}}
	})
	keys["podLabels"] = byValue(&d.labels, labelKey, labelValue, func(key, value string) policy.Criteria {
		return policy.Criteria{Labels: map[string]string{key: value}}
	})
	keys["computeClasses"] = func(v reader.Value) {
		v.Each(named(&d.classes, labelValue.key, func(class string) policy.Criteria { return policy.Criteria{ComputeClass: class} }))
	}
	v.Fields(keys)
	return d
}

// rules returns all rules in order of precedence.
func (d *document) rules() []*rule {
	return slices.Concat(d.overrides, d.annotations, d.labels, d.classes)
}

// check adds faults between values: baselines without a ratio, and bounds whose min is above
// their max after the globals have filled in what a rule leaves out.
func (d *document) check(f *reader.Faults) {
	g := &d.globals
	if g.baseline == "" {
		f.Add("baselineNodeType", "must be set")
	} else if _, ok := g.ratios[g.baseline]; !ok {
		f.Add("baselineNodeType", "%q is not one of the nodeTypes", g.baseline)
	}
	g.cpu.check(f, "bounds.cpu")
	g.memory.check(f, "bounds.memory")
	checkDemand(f, "demand", &g.demand, &g.demand)
	checkGuard(f, "guard", &g.guard, &g.guard)
	for _, r := range d.rules() {
		demand, guard := r.demand.Over(&g.demand), r.guard.Over(&g.guard)
		checkDemand(f, r.path+".demand", &r.demand, &demand)
		checkGuard(f, r.path+".guard", &r.guard, &guard)
		_, own := r.ratios[r.baseline]
		_, global := g.ratios[r.baseline]
		if r.baseline != "" && !own && !global {
			f.Add(reader.Join(r.path, "baselineNodeType"), "%q is not one of the nodeTypes of the rule or the globals", r.baseline)
		}
		r.cpu.checkOver(g.cpu, f, r.path+".bounds.cpu")
		r.memory.checkOver(g.memory, f, r.path+".bounds.memory")
	}
}

func (e ends) check(f *reader.Faults, path string) {
	if above(e.min, e.max) {
		f.Add(path, "min %s > max %s", e.min, e.max)
	}
}

// checkOver checks the ends of a rule, with the global ends for those that it leaves out. It
// does not check the global ends by themselves.
func (e ends) checkOver(globals ends, f *reader.Faults, path string) {
	switch {
	case e.min != nil && e.max != nil:
		e.check(f, path)
	case e.min != nil && above(e.min, globals.max):
		f.Add(path, "min %s > global max %s", e.min, globals.max)
	case e.max != nil && above(globals.min, e.max):
		f.Add(path, "global min %s > max %s", globals.min, e.max)
	}
}

func above(low, high *resource.Quantity) bool {
	return low != nil && high != nil && low.Cmp(*high) > 0
}

// layer returns the document as a layer for the store.
func (d *document) layer(from ratios.Provenance) *ratios.Layer {
	g := &d.globals
	layer := &ratios.Layer{Baseline: g.baseline, Ratios: g.from(from), MaxSpeedRatio: g.maxSpeedRatio, Settings: g.settings(), Cluster: d.cluster}
	for _, r := range d.rules() {
		layer.Rules = append(layer.Rules, ratios.Rule{Name: r.String(), Match: r.match, Baseline: r.baseline, Ratios: r.from(from), MaxSpeedRatio: r.maxSpeedRatio, Settings: r.settings()})
	}
	return layer
}
