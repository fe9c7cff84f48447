package need_test

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// A limit that another mode has raised must not be lowered with a request that rises, unless as much is known as for a
// decrease.
func TestLimitsOfAnotherModeAreNotLoweredUnknown(t *testing.T) {
	now := began.Add(100 * day)
	known := recommend.Known{Age: 8 * day, Coverage: 1}
	for _, mode := range []struct {
		name string
		need.LimitMode
		want int64
	}{{"keep", need.Keep, 1200}, {"follow", need.Follow, 960}} {
		for _, test := range []struct {
			name   string
			change func(*recommend.Recommendation, *pod)
			want   int64
		}{
			{"lowered if enough is known", func(*recommend.Recommendation, *pod) {}, mode.want},
			{"kept while peaks are unknown", func(r *recommend.Recommendation, _ *pod) { r.PeaksKnown = recommend.Known{} }, 2000},
			{"kept for a new version", func(r *recommend.Recommendation, _ *pod) { r.New = time.Hour }, 2000},
			{"kept if the process knows it", func(_ *recommend.Recommendation, p *pod) { p.KnowsLimit = true }, 2000},
			{"kept above the peak of a replica", func(_ *recommend.Recommendation, p *pod) { p.Peak = 1500 * mib }, 1800},
		} {
			t.Run(mode.name+"/"+test.name, func(t *testing.T) {
				o := recommend.DefaultOptions()
				o.Limits = need.Limits{Memory: mode.LimitMode}
				r := recommend.Recommendation{
					Target: recommend.Amounts{CPU: 500, Memory: 800 * mib}, Lower: recommend.Amounts{CPU: 400, Memory: 700 * mib}, Upper: recommend.Amounts{CPU: 600, Memory: 900 * mib},
					CPUKnown: known, MemoryKnown: known, PeaksKnown: known,
				}
				p := pod{
					Request: amounts{500, 600 * mib}, Limit: amounts{500, 2000 * mib},
					Authored:   authored{Request: amounts{500, 1000 * mib}, Limit: amounts{500, 1200 * mib}},
					ResizedCPU: now.Add(-100 * day), ResizedMemory: now.Add(-100 * day),
				}
				test.change(&r, &p)
				s := p.state(&o, &r, now)
				if got := s.Settle().Size.Memory; got.Request != 800*mib || got.Limit/mib != test.want {
					t.Errorf("request %d MiB, limit %d MiB, want %d MiB", got.Request/mib, got.Limit/mib, test.want)
				}
			})
		}
	}
}

func TestCPULimitsOfAnotherModeAreNotLoweredUnknown(t *testing.T) {
	now := began.Add(100 * day)
	known := recommend.Known{Age: 8 * day, Coverage: 1}
	for _, test := range []struct {
		name   string
		change func(*recommend.Recommendation, *pod)
		want   int64
	}{
		{"lowered if enough is known", func(*recommend.Recommendation, *pod) {}, 800},
		{"kept while samples are throttled", func(r *recommend.Recommendation, _ *pod) { r.Throttled = 0.5 }, 4000},
		{"kept for a new version", func(r *recommend.Recommendation, _ *pod) { r.New = time.Hour }, 4000},
		{"kept for a day after the last change", func(_ *recommend.Recommendation, p *pod) { p.ResizedCPU = now.Add(1 - day) }, 4000},
		{"the request in Guaranteed pods", func(r *recommend.Recommendation, p *pod) {
			r.Throttled, p.Authored, p.Limit = 0.5, authored{Request: amounts{2000, 1000 * mib}, Limit: amounts{2000, 1000 * mib}, Guaranteed: true}, amounts{200, 1000 * mib}
		}, 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := recommend.DefaultOptions()
			r := recommend.Recommendation{
				Target: recommend.Amounts{CPU: 400, Memory: 1000 * mib}, Lower: recommend.Amounts{CPU: 300, Memory: 700 * mib}, Upper: recommend.Amounts{CPU: 600, Memory: 1200 * mib},
				CPUKnown: known, MemoryKnown: known, PeaksKnown: known,
			}
			p := pod{
				Request: amounts{200, 1000 * mib}, Limit: amounts{4000, 2000 * mib}, // The mode was keep.
				Authored:   authored{Request: amounts{2000, 1000 * mib}, Limit: amounts{4000, 2000 * mib}},
				ResizedCPU: now.Add(-100 * day), ResizedMemory: now.Add(-100 * day),
			}
			test.change(&r, &p)
			s := p.state(&o, &r, now)
			if got := s.Settle().Size.CPU; got.Request != 400 || got.Limit != test.want {
				t.Errorf("request %dm, limit %dm, want %dm", got.Request, got.Limit, test.want)
			}
		})
	}
}

// A bound that lowers a request of CPU lowers its limit in proportion, however little is known.
func TestBoundsLowerCPULimitsToo(t *testing.T) {
	now := began.Add(100 * day)
	o, r := recommend.DefaultOptions(), recommend.Recommendation{
		Target: recommend.Amounts{CPU: 1800, Memory: 1000 * mib}, Lower: recommend.Amounts{CPU: 1500, Memory: 700 * mib}, Upper: recommend.Amounts{CPU: 2500, Memory: 1200 * mib},
	}
	p := pod{
		Request: amounts{2000, 1000 * mib}, Limit: amounts{4000, 2000 * mib},
		Authored:   authored{Request: amounts{2000, 1000 * mib}, Limit: amounts{4000, 2000 * mib}},
		ResizedCPU: now.Add(-100 * day), ResizedMemory: now.Add(-100 * day),
	}
	s := p.state(&o, &r, now)
	if got := s.Settle().Size.CPU; got.Request != 2000 || got.Limit != 4000 {
		t.Fatalf("request %dm, limit %dm without a bound, want 2000m and 4000m", got.Request, got.Limit)
	}
	s.Needs[sizing.CPU.Index].Bounds = &sizing.Range{Max: 1000}
	if got := s.Settle().Size.CPU; got.Request != 1000 || got.Limit != 2000 {
		t.Errorf("request %dm, limit %dm, want 1000m and 2000m", got.Request, got.Limit)
	}
}

// An administrator who lowers demand.maxGrowth stops growth. A container keeps the memory that it has and needs: nothing is
// known of the peak of a replica that does not exceed what is recommended.
func TestLowerGrowthLowersNoMemoryThatIsNeeded(t *testing.T) {
	now := began.Add(100 * day)
	known := recommend.Known{Age: 8 * day, Coverage: 1}
	for _, test := range []struct {
		name        string
		mode        need.LimitMode
		guaranteed  bool
		floor       int64
		has         sizing.Amount
		want        sizing.Amount
		unsatisfied string
	}{
		{"keeps a request", need.Multiple, false, 0, sizing.Amount{Request: 800, Limit: 1600}, sizing.Amount{Request: 800, Limit: 1600}, "the container needs 900Mi, and demand.maxGrowth lowers no memory"},
		{"lowers it to what is needed", need.Multiple, false, 0, sizing.Amount{Request: 2000, Limit: 4000}, sizing.Amount{Request: 900, Limit: 1800}, "the container needs 900Mi, and demand.maxGrowth lowers no memory"},
		{"lowers it to a size that was too small", need.Multiple, false, 1000, sizing.Amount{Request: 2000, Limit: 4000}, sizing.Amount{Request: 1000, Limit: 2000}, "the container needs 1000Mi, and demand.maxGrowth lowers no memory"},
		{"keeps the size of a Guaranteed pod", need.Multiple, true, 0, sizing.Amount{Request: 800, Limit: 800}, sizing.Amount{Request: 800, Limit: 800}, "the container needs 900Mi, and demand.maxGrowth lowers no memory"},
		{"raises nothing", need.Multiple, false, 0, sizing.Amount{Request: 200, Limit: 400}, sizing.Amount{Request: 400, Limit: 800}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := recommend.DefaultOptions()
			o.MaxGrowth, o.Limits = 2, need.Limits{Memory: test.mode, MemoryMultiple: 2}
			r := recommend.Recommendation{
				Target: recommend.Amounts{CPU: 500, Memory: 900 * mib}, Lower: recommend.Amounts{CPU: 400, Memory: 700 * mib}, Upper: recommend.Amounts{CPU: 600, Memory: 1000 * mib},
				CPUKnown: known, MemoryKnown: known, PeaksKnown: known,
			}
			r.Floors.Request.Memory = test.floor * mib
			p := pod{
				Request: amounts{500, test.has.Request * mib}, Limit: amounts{500, test.has.Limit * mib},
				Authored:   authored{Request: amounts{500, 200 * mib}, Limit: amounts{500, 400 * mib}, Guaranteed: test.guaranteed},
				ResizedCPU: now.Add(-100 * day), ResizedMemory: now.Add(-100 * day),
			}
			if test.guaranteed {
				p.Authored.Limit = p.Authored.Request
			}
			s := p.state(&o, &r, now)
			got := s.Settle()
			if has := got.Size.Memory; has.Request != test.want.Request*mib || has.Limit != test.want.Limit*mib || got.Why[sizing.Memory.Index] != test.unsatisfied {
				t.Errorf("request %d MiB, limit %d MiB, want %+v: %s", has.Request/mib, has.Limit/mib, test.want, got.Why[sizing.Memory.Index])
			}
		})
	}
}
