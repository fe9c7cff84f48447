package config

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// FuzzParse looks for text that Parse accepts although it breaks an assumption of the
// planner.
func FuzzParse(f *testing.F) {
	f.Add([]byte(published))
	f.Add([]byte(ruled))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("baselineNodeType: a\nnodeTypes: &a {a: *a}"))
	f.Add([]byte("? {a: b}\n: c"))
	f.Add([]byte(published + "overrides: &o [*o, {name: a, match: &m {computeClass: *m}, nodeTypes: {n4: {cpuPerf: 1, memPerf: 1}}}]"))
	f.Add([]byte(published + "podLabels: {a: &v {b: {bounds: {cpu: {min: 16, max: 16}}}}, c: *v}\n---\n"))
	f.Add([]byte(published + "guard: &g {window: 1m, unready: 5s, restarts: 3, maxUnproven: 5%, throttling: 10%, pressure: {cpu: 0.5}}\npodLabels: {a: {b: {guard: {<<: *g, unready: 1h}}}}"))
	f.Add([]byte(published + "guard: {enabled: false, objectives: [{name: a, prometheus: http://a, query: up, below: -.5}], schedule: [{days: [Fri-Mon], from: 22:00, to: 06:00, zone: Europe/Berlin}]}"))
	f.Add([]byte(published + "pace: {resizesPerSecond: 0.5, freedPerHour: 10%}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		layer, err := Parse(text, ratios.Provenance{})
		if (layer == nil) == (err == nil) {
			t.Fatalf("layer %v, error %v", layer, err)
		}
		if err != nil {
			if faults, ok := errors.AsType[Faults](err); !ok || len(faults) == 0 {
				t.Errorf("error %v is not a list of faults", err)
			}
			return
		}
		// An accepted layer must be sufficient for a table.
		table, err := ratios.Merge([]*ratios.Layer{layer})
		if err != nil {
			t.Fatal(err)
		}
		if rate, freed := table.Pace.Rates(20); !(rate == 0 || rate >= 0.001 && rate <= 100_000) || !(freed >= 0 && freed <= 1) {
			t.Errorf("%v resizes per second, %v freed per hour", rate, freed)
		}
		names := map[string]bool{}
		for _, p := range table.Profiles() {
			if names[p.Name] {
				t.Errorf("two profiles are named %q", p.Name)
			}
			names[p.Name] = true
			valid(t, p)
		}
		for _, r := range layer.Rules {
			if r.Match.ComputeClass == "" && len(r.Match.Labels) == 0 && len(r.Match.Annotations) == 0 {
				t.Errorf("rule %s matches every pod", r.Name)
			}
			for _, criteria := range []map[string]string{r.Match.Labels, r.Match.Annotations} {
				for key, value := range criteria {
					if key == "" || value == "" {
						t.Errorf("rule %s matches %q: %q", r.Name, key, value)
					}
				}
			}
		}
	})
}

func valid(t *testing.T, p *ratios.Profile) {
	guarded(t, p)
	if !p.Knows(p.Baseline) {
		t.Errorf("profile %q: baseline %q has no ratio", p.Name, p.Baseline)
	}
	for _, nodeType := range p.NodeTypes() {
		e, _ := p.Lookup(nodeType)
		if nodeType == "" || !ratios.ValidPerf(e.Ratio.CPUPerf) || !ratios.ValidPerf(e.Ratio.MemoryPerf) {
			t.Errorf("profile %q: node type %q has ratio %v", p.Name, nodeType, e.Ratio)
		}
	}
	for _, b := range []sizing.Range{p.Bounds.CPU, p.Bounds.Memory} {
		if b.Min < 0 || b.Max < 0 || b.Max > 0 && b.Min > b.Max {
			t.Errorf("profile %q: bounds %v", p.Name, p.Bounds)
		}
	}
}

func guarded(t *testing.T, p *ratios.Profile) {
	s := p.Guard
	for _, share := range []float64{s.Throttling, s.CPUPressure, s.MemoryPressure, s.MemoryUse} {
		if !(share > 0 && share <= 1) {
			t.Errorf("profile %q: a share of %v in %+v", p.Name, share, s)
		}
	}
	if s.Unready <= 0 || s.Unready >= s.Window || s.Window > 24*time.Hour || s.Cooldown <= 0 || s.Restarts < 1 {
		t.Errorf("profile %q: guard %+v", p.Name, s)
	}
	var names []string
	for _, o := range s.Objectives {
		if o.Name == "" || slices.Contains(names, o.Name) || o.Prometheus == "" || o.Query == "" || (o.Above == nil) == (o.Below == nil) {
			t.Errorf("profile %q: objective %+v", p.Name, o)
		}
		names = append(names, o.Name)
	}
	now := time.Unix(1_800_000_000, 0)
	if next := s.Schedule.Next(now); s.Schedule.Contains(now) != next.IsZero() || !next.IsZero() && !s.Schedule.Contains(next) {
		t.Errorf("profile %q: the schedule opens at %s", p.Name, next)
	}
}
