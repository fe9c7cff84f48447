package settings

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
)

// FuzzParse looks for text that Parse accepts although it breaks an assumption of other
// packages.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", everything, "mode: apply", "a: &a [*a]", "? {a: b}\n: c", "nodeTypes: {n4: {mode: apply}}\n---\n", "changes: {min: .nan}",
		"feeds: [{name: a, format: samples, url: 'http://a', insecure: true, servers: {url: 'https://b'}, instanceType: c}]", "weights: {'*': 0}", "changes: {windows: 100}", "1: 2",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Error("the error has no text")
			}
			return
		}
		e, p := s.Estimate, s.Pace
		if e.MinSamples < 1 || e.MinMachines < 1 || e.MinBenchmarks < 1 || !(e.TolerancePublished > 0) || !(e.ToleranceMeasured > 0) || !(e.MaxModelSpread >= 1) || e.OutliersFrom < 3 ||
			!(e.OutlierDeviations >= 1) || !(e.Confidence >= 0.5 && e.Confidence < 1) || !(e.Prior >= 0) || min(e.MaxAgePublished, e.MaxAgeMeasured) < p.Window*time.Duration(p.Windows) {
			t.Errorf("aggregation %+v", e)
		}
		if !(p.DeadBand >= 0) || p.Windows < 1 || p.Window < time.Second || !(p.MaxStepPerHour > 0) || !(p.Min > 0 && p.Min <= 1) || !(p.Max >= 1 && p.Max <= 100) {
			t.Errorf("changes %+v", p)
		}
		if s.Limits.PerKey < 1 || s.Limits.Bytes < 1 {
			t.Errorf("limits %+v", s.Limits)
		}
		for name, weight := range e.Weights {
			if name == "" || !(weight >= 0 && weight <= 1000) {
				t.Errorf("weight %q %v", name, weight)
			}
		}
		for name, mode := range s.Modes {
			if name == "" || s.Mode(name) != mode || mode != Observe && mode != Apply {
				t.Errorf("mode %q of %q", mode, name)
			}
		}
		names := map[string]bool{}
		for _, f := range s.Feeds {
			if names[f.Name] || f.Name == "" || f.Format == "" || f.Interval < fetch.MinInterval || f.Location() == "" {
				t.Errorf("feed %+v", f)
			}
			names[f.Name] = true
		}
	})
}
