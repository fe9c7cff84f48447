package ratios_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func TestOtherSources(t *testing.T) {
	t.Run("looks up a ratio in the other sources", looksUpARatioInTheOtherSources)
}

func looksUpARatioInTheOtherSources(t *testing.T) {
	s := run(t,
		ratiotest.NewMemory("override", ratios.Update{Layer: layer("override", "n2d", map[string]float64{"n2d": 1, "n4": 2, "c3": 3})}),
		ratiotest.NewMemory("configmap", ratios.Update{Layer: layer("configmap", "", map[string]float64{"n4": 1.25})}),
		ratiotest.NewMemory("file", ratios.Update{Layer: layer("file", "", map[string]float64{"n4": 1.5, "e2": 0.5})}),
	)
	await(t, s, s.Watch(), ready(s))
	for _, tc := range []struct {
		name, without, nodeType string
		want                    float64 // 0 means that nothing is found.
	}{
		{"the first of the other sources takes precedence", "override", "n4", 1.25},
		{"a source before it takes precedence, too", "configmap", "n4", 2},
		{"the last source is used if no other names the type", "override", "e2", 0.5},
		{"finds nothing that only this source names, even the baseline", "override", "n2d", 0},
		{"finds nothing that no source names", "override", "c4", 0},
		{"a source that is not used excludes none", "another", "n4", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := s.LookupWithout(tc.without, tc.nodeType); got.CPUPerf != tc.want || ok != (tc.want != 0) {
				t.Errorf("got %+v, %v, want %v", got, ok, tc.want)
			}
		})
	}
	if got, ok := ratios.NewStore(ratiotest.NewMemory("file", ratios.Update{})).LookupWithout("override", "n4"); ok {
		t.Errorf("a source that was not read returned %+v", got)
	}
}

func TestWhatIf(t *testing.T) {
	s := run(t,
		ratiotest.NewMemory("override", ratios.Update{Layer: layer("override", "", map[string]float64{"n4": 2})}),
		ratiotest.NewMemory("configmap", ratios.Update{Layer: layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.25})}),
	)
	await(t, s, s.Watch(), ready(s))
	for _, tc := range []struct {
		name, source string
		layer        *ratios.Layer
		want         float64 // 0 means an error.
		wantErr      string
	}{
		{"a source with a different layer", "override", layer("override", "", map[string]float64{"n4": 3}), 3, ""},
		{"an empty source leaves the others", "override", nil, 1.25, ""},
		{"the unnamed source takes precedence over all", "", layer("", "", map[string]float64{"n4": 4}), 4, ""},
		{"layers without a baseline are an error", "configmap", nil, 0, "no source names a baseline"},
		{"a source that is not used is an error", "file", nil, 0, "ratio source file is not used"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, err := s.WhatIf(ratios.Assumed{Source: tc.source, Layer: tc.layer})
			if tc.want == 0 {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("%+v, %v", table, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if entry, _ := table.Lookup("n4"); entry.Ratio.CPUPerf != tc.want {
				t.Errorf("n4 has %+v", entry.Ratio)
			}
		})
	}
	if entry, _ := s.Table().Lookup("n4"); entry.Ratio.CPUPerf != 2 {
		t.Errorf("effective ratio: %+v", entry.Ratio)
	}
	both, err := s.WhatIf(ratios.Assumed{Source: "override"}, ratios.Assumed{Layer: layer("", "", map[string]float64{"c3": 5, "n2d": 1})})
	if err != nil {
		t.Fatal(err)
	}
	n4, _ := both.Lookup("n4")
	if c3, _ := both.Lookup("c3"); n4.Ratio.CPUPerf != 1.25 || c3.Ratio.CPUPerf != 5 {
		t.Errorf("with two assumptions, n4 has %+v, c3 has %+v", n4.Ratio, c3.Ratio)
	}
	broken := ratios.NewStore(ratiotest.NewMemory("file", ratios.Update{Err: errors.New("broken")}))
	if _, err := broken.WhatIf(ratios.Assumed{Source: "file"}); err == nil || !strings.Contains(err.Error(), "not read yet") {
		t.Errorf("before there is a table: %v", err)
	}
}

func TestWithDemandMode(t *testing.T) {
	table := merge(t, withRules(ratios.Rule{Match: policy.Criteria{ComputeClass: "b"}}))
	applied, observed := table.WithDemandMode(policy.Apply), table.WithDemandMode(policy.Observe)
	for i := range table.Profiles() {
		if table.Profiles()[i].AppliesUsage() || observed.Profiles()[i].AppliesUsage() || !applied.Profiles()[i].AppliesUsage() {
			t.Errorf("profile %d: %+v, %+v", i, applied.Profiles()[i].Demand, observed.Profiles()[i].Demand)
		}
	}
	if observed.Revision != table.Revision || applied.Revision == table.Revision || applied.WithDemandMode(policy.Observe).Revision != table.Revision {
		t.Errorf("revisions %s, %s with usage applied and %s with usage observed", table.Revision, applied.Revision, observed.Revision)
	}
}
