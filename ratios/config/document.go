package config

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// document is config.yaml as it is written.
type document struct {
	globals section
	cluster keys.Partial[policy.Cluster]
	// In order of precedence.
	overrides, annotations, labels, classes []*rule
}

func readDocument(v reader.Value) *document {
	d := &document{}
	known := d.globals.known()
	maps.Copy(known, d.cluster.Known())
	known["overrides"] = overrides(&d.overrides)
	known["podAnnotations"] = byValue(&d.annotations, keys.AnnotationKey, keys.AnnotationValue, func(key, value string) policy.Criteria {
		return policy.Criteria{Annotations: map[string]string{key: value}}
	})
	known["podLabels"] = byValue(&d.labels, keys.LabelKey, keys.LabelValue, func(key, value string) policy.Criteria {
		return policy.Criteria{Labels: map[string]string{key: value}}
	})
	known["computeClasses"] = func(v reader.Value) {
		v.Each(named(&d.classes, keys.LabelValue.Key, func(class string) policy.Criteria { return policy.Criteria{ComputeClass: class} }))
	}
	v.Fields(known)
	return d
}

// rules returns all rules in order of precedence.
func (d *document) rules() []*rule {
	return slices.Concat(d.overrides, d.annotations, d.labels, d.classes)
}

// check adds faults between values, after the globals have filled in what a rule leaves out.
func (d *document) check(f *reader.Reader) {
	g := &d.globals
	if g.baseline == "" {
		f.Fault("baselineNodeType", "must be set")
	} else if _, ok := g.ratios[g.baseline]; !ok {
		f.Fault("baselineNodeType", "%q is not one of the nodeTypes", g.baseline)
	}
	policy.Check(f, "", &g.settings, &keys.Partial[policy.Settings]{})
	policy.CheckCluster(f, &d.cluster)
	for _, r := range d.rules() {
		_, own := r.ratios[r.baseline]
		_, global := g.ratios[r.baseline]
		if r.baseline != "" && !own && !global {
			f.Fault(reader.Join(r.path, "baselineNodeType"), "%q is not one of the nodeTypes of the rule or the globals", r.baseline)
		}
		policy.Check(f, r.path, &r.settings, &g.settings)
	}
}

// layer returns the document as a layer for the store.
func (d *document) layer(from ratios.Provenance) *ratios.Layer {
	g := &d.globals
	layer := &ratios.Layer{Baseline: g.baseline, Ratios: g.from(from), MaxSpeedRatio: g.maxSpeedRatio, Settings: g.settings, Cluster: d.cluster}
	for _, r := range d.rules() {
		layer.Rules = append(layer.Rules, ratios.Rule{Name: r.String(), Match: r.match, Baseline: r.baseline, Ratios: r.from(from), MaxSpeedRatio: r.maxSpeedRatio, Settings: r.settings})
	}
	return layer
}
