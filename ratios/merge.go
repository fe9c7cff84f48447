package ratios

import (
	"cmp"
	"errors"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// Merge merges layers, in order of precedence, into a table. It ignores nil layers. The rules
// come from the first layer that has any. The error describes what the merged layers lack.
func Merge(layers []*Layer) (*Table, error) {
	globals := &Profile{entries: map[string]*Entry{}}
	var rules []Rule
	var settings keys.Partial[policy.Settings]
	var cluster keys.Partial[policy.Cluster]
	layers = absolute(layers)
	for _, layer := range layers {
		if layer == nil {
			continue
		}
		if globals.Baseline == "" {
			globals.Baseline = layer.Baseline
		}
		globals.MaxSpeedRatio = cmp.Or(globals.MaxSpeedRatio, layer.MaxSpeedRatio)
		settings, cluster = settings.Over(layer.Settings), cluster.Over(layer.Cluster)
		if len(rules) == 0 {
			rules = layer.Rules
		}
		for name, ratio := range layer.Ratios {
			e, ok := globals.entries[name]
			if !ok {
				e = &Entry{NodeType: name, Ratio: ratio}
				globals.entries[name] = e
			}
			e.Candidates = append(e.Candidates, ratio)
		}
	}
	globals.observe(layers)
	if globals.Baseline == "" {
		return nil, errors.New("no source names a baseline node type")
	}
	globals.MaxSpeedRatio, globals.Profile = cmp.Or(globals.MaxSpeedRatio, DefaultMaxSpeedRatio), policy.NewProfile(&settings)
	if err := globals.complete(); err != nil {
		return nil, err
	}
	t := &Table{Baseline: globals.Baseline, Bounds: globals.Bounds, Cluster: cluster.Complete(), profiles: []*Profile{globals}}
	var problems []error
	for i := range rules {
		p, err := globals.withRule(&rules[i], &settings)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		t.profiles = append(t.profiles, p)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	t.Revision, t.unused = revision(t.profiles), unusedTypes(t.profiles, nil)
	return t, nil
}

// observe adds the ratios that layers only show to those of the same node types.
func (p *Profile) observe(layers []*Layer) {
	for _, layer := range layers {
		if layer == nil {
			continue
		}
		for name, ratio := range layer.Observed {
			if e, ok := p.entries[name]; ok {
				e.Observed = append(e.Observed, ratio)
			}
		}
	}
}
