package pace

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// arbitrary returns random settings, valid or not.
func arbitrary(r *rand.Rand) Settings {
	return Settings{
		DeadBand: r.Float64() * 0.2, Windows: r.IntN(5), Window: time.Duration(r.Int64N(int64(12 * time.Hour))),
		MaxStepPerHour: r.Float64() * 0.5, Min: 0.1 + r.Float64(), Max: 1.2 + 3*r.Float64(),
	}
}

// anything returns a random input, valid or not.
func anything(r *rand.Rand) Input {
	in := Input{Baseline: "n2d", Below: 0.2 + 3*r.Float64(), Estimate: 4 * r.Float64(), HeldBack: r.IntN(8) == 0}
	switch r.IntN(40) {
	case 0, 1, 2, 3, 4:
		in.Estimate = 0
	case 5:
		in.Estimate = math.Inf(1)
	case 6:
		in.Estimate = math.NaN()
	case 7:
		in.Below = math.NaN()
	case 8:
		in.Below = 0
	case 9:
		in.Baseline = "n4"
	}
	return in
}

func TestProperty(t *testing.T) {
	t.Run("a step is never larger than allowed", aStepIsNeverLargerThanAllowed)
	t.Run("reaches a steady target without a detour", reachesASteadyTargetWithoutADetour)
	t.Run("settles where steady inputs lead", settlesWhereSteadyInputsLead)
}

// aStepIsNeverLargerThanAllowed also checks that a ratio never turns without being confirmed,
// and is always valid in a table.
func aStepIsNeverLargerThanAllowed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	steps, ends := 0, 0
	for range 300 {
		settings := arbitrary(r)
		var s State
		now, in := start, anything(r)
		turned := 0 // Windows since the first step in the current direction.
		last := 0
		for range 200 {
			before := s
			now = now.Add(time.Duration(r.Int64N(int64(2*settings.window())) + 1))
			if r.IntN(3) == 0 {
				in = anything(r)
			}
			if s = Next(s, in, now, settings); s.Judged.Equal(before.Judged) {
				if s != before {
					t.Fatalf("a window that was judged already changed %+v to %+v", before, s)
				}
				continue
			}
			turned++
			if s.Ratio < 0 || math.IsNaN(s.Ratio) || math.IsInf(s.Ratio, 0) || s.Confirmed < 0 || s.Confirmed > max(settings.Windows, 1) || s.Moving && s.Confirmed == 0 {
				t.Fatalf("%+v", s)
			}
			if in.Baseline != before.Baseline {
				last = 0
				before.Ratio = 0
			}
			if s.Ratio == before.Ratio {
				continue
			}
			if s.Changed != s.Judged {
				t.Fatalf("the ratio changed, but not Changed: %+v", s)
			}
			steps++
			from, to := before.Ratio, s.Ratio
			if from == 0 {
				from = in.below()
			}
			if to == 0 {
				to, ends = in.below(), ends+1
				if to != from {
					t.Fatalf("ended at %v, not at %v: %+v and %+v", from, to, before, in)
				}
				last = 0
				continue
			}
			since := settings.window()
			if !before.Judged.IsZero() {
				since = s.Judged.Sub(before.Judged)
			}
			if allowed := math.Log(1+settings.MaxStepPerHour) * min(since.Hours(), 1); math.Abs(math.Log(to/from)) > allowed+1e-9 {
				t.Fatalf("a step of %v after %v, from %+v to %+v with %+v and %+v", math.Abs(math.Log(to/from)), since, before, s, in, settings)
			}
			direction := 1
			if to < from {
				direction = -1
			}
			if last != 0 && direction != last && turned < settings.Windows {
				t.Fatalf("turned after %d windows, from %+v to %+v with %+v", turned, before, s, settings)
			}
			last, turned = direction, 0
		}
	}
	t.Logf("%d steps, %d of them final", steps, ends)
	if steps < 1000 || ends < 20 {
		t.Error("too few steps to be conclusive")
	}
}

func reachesASteadyTargetWithoutADetour(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	moves := 0
	for range 2000 {
		settings := Defaults()
		settings.Window = time.Duration(1+r.IntN(4)) * 15 * time.Minute
		from, target := 0.5+1.5*r.Float64(), 0.5+1.5*r.Float64()
		s := State{Baseline: "n2d", Ratio: from, Judged: start}
		// At most as many hours as steps, and the windows that confirm.
		need := int(math.Ceil(math.Abs(math.Log(target/from))/math.Log(1.1)/settings.Window.Hours())) + settings.Windows
		for i := range need {
			before := s.Ratio
			s = Next(s, good(target), start.Add(time.Duration(i+1)*settings.Window), settings)
			if (target-from)*(s.Ratio-before) < 0 {
				t.Fatalf("from %v to %v: %v after %v", from, target, s.Ratio, before)
			}
		}
		switch beyond := !settings.within(target, from); {
		case beyond && s.Ratio != target:
			t.Fatalf("from %v to %v: at %v after %d windows", from, target, s.Ratio, need)
		case !beyond && s.Ratio != from:
			t.Fatalf("from %v to %v: moved to %v", from, target, s.Ratio)
		case beyond:
			moves++
		}
	}
	if moves < 1000 {
		t.Errorf("%d moves are too few to be conclusive", moves)
	}
}

func FuzzAStateThatSomebodyHasWritten(f *testing.F) {
	f.Add(`{"baseline":"n2d","ratio":1.25,"judged":"2026-03-01T00:00:00Z","confirmed":2,"direction":1,"ending":true,"moving":true}`, 1.1, 1.0)
	f.Add(`{"baseline":"n2d","ratio":-1,"judged":"9999-12-31T00:00:00Z","confirmed":-1,"direction":7,"moving":true}`, math.Inf(-1), -1.0)
	f.Add(`{"baseline":"n2d","ratio":1.7e308,"judged":"0000-01-01T00:00:00Z","confirmed":9223372036854775807}`, 5e-324, math.MaxFloat64)
	f.Fuzz(func(t *testing.T, text string, estimate, below float64) {
		var s State
		if json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		for i := range 4 {
			now, before := start.Add(time.Duration(i)*time.Hour), s
			if s = Next(s, goodOver(below, estimate), now, Defaults()); s == before {
				continue
			}
			if s.Ratio != 0 && !positive(s.Ratio) || s.Confirmed < 0 || s.Confirmed > 2 || s.Direction < -1 || s.Direction > 1 || s.Judged.After(now) {
				t.Fatalf("%+v became %+v", before, s)
			}
		}
	})
}

func settlesWhereSteadyInputsLead(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	moves, ends := 0, 0
	for range 500 {
		settings, in, now := arbitrary(r), anything(r), start
		settings.Window, settings.MaxStepPerHour = max(settings.Window, 10*time.Minute), max(settings.MaxStepPerHour, 0.01)
		before := Next(State{Baseline: "n2d", Ratio: float64(r.IntN(3))}, in, now, settings)
		want := before
		for range 3000 {
			now = settings.NextWindow(now)
			want = Next(want, in, now, settings)
		}
		got := Settled(before, in, start, settings)
		if got.Ratio != want.Ratio {
			t.Fatalf("%+v settles at %v, but reaches %v, with %+v and %+v", before, got.Ratio, want.Ratio, in, settings)
		}
		if got.Ratio != before.Ratio {
			moves++
			if got.Ratio == 0 {
				ends++
			}
		}
	}
	if moves < 100 || ends < 20 {
		t.Errorf("only %d moved and %d ended", moves, ends)
	}
}
