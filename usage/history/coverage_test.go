package history

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestCoverage(t *testing.T) {
	for _, test := range []struct {
		name  string
		hours []int
		now   int
		want  float64
	}{
		{"without samples", nil, 5, 0},
		{"with samples in each hour", []int{0, 1, 2, 3}, 3, 1},
		{"with a gap", []int{0, 3}, 3, 0.5},
		{"with silence since", []int{0}, 9, 0.1},
		{"with samples that arrive late", []int{5, 0, 3}, 9, 0.3},
		{"of 8 days at most", append(upTo(200), 300), 300, 93.0 / remembered},
		{"with a sample before these 8 days", []int{250, 10}, 250, 1.0 / remembered},
		{"with the oldest hour of these 8 days", []int{0, remembered - 1}, remembered - 1, 2.0 / remembered},
		{"with an hour less", []int{0, remembered}, remembered, 1.0 / remembered},
		{"after a silence of years", []int{0, 1, 2, 20000}, 20000, 1.0 / remembered},
		{"after a silence of 8 days", []int{0, remembered + 1}, remembered + 1, 1.0 / remembered},
		{"when the silence is longer", []int{0, 1, 2}, 10 * remembered, 0},
		{"with a sample that is too late to count", []int{remembered, 0}, remembered, 1.0 / remembered},
		{"in the hour of the first sample", []int{5}, 5, 1},
		{"before the first sample", []int{5}, 3, 0},
		{"in the hour before the first sample", []int{5}, 4, 0},
		{"with the oldest hour after a silence of years", []int{0, 20000, 20001 - remembered}, 20000, 2.0 / remembered},
		{"with a newer sample than the clock, 8 days after the first", []int{0, remembered}, remembered - 1, 0},
		{"with a sample that is newer than the clock", []int{0, 1, 5}, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var h Hours
			at := func(hour int) time.Time { return began.Add(time.Duration(hour) * time.Hour) }
			for _, hour := range test.hours {
				h.mark(at(hour).Add(17 * time.Minute))
			}
			// NaN is not within the tolerance.
			if got := h.share(at(test.now).Add(time.Minute)); !(math.Abs(got-test.want) <= 1e-12) {
				t.Errorf("coverage %v, want %v", got, test.want)
			}
		})
	}
}

// The hours of two node types are as if all samples were of one.
func TestCoverageOfSeveralNodeTypes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var one, two, both Hours
		first, within := rng.IntN(400), 1+rng.IntN(300)
		for range rng.IntN(60) {
			at := began.Add(time.Duration(first+rng.IntN(within)) * time.Hour)
			into := []*Hours{&one, &two}[rng.IntN(2)]
			into.mark(at)
			both.mark(at)
		}
		// One of them may have seen what the other one has forgotten.
		for _, h := range []*Hours{&one, &two} {
			if h.Last != 0 {
				h.advance(both.Last)
			}
		}
		for _, pair := range [][2]Hours{{one, two}, {two, one}} {
			if pair[0].add(pair[1]); pair[0] != both {
				t.Fatalf("%+v\nand %+v\nare %+v\nwant %+v", one, two, pair[0], both)
			}
		}
	}
}

func TestCoverageOfAClockThatIsAhead(t *testing.T) {
	var h Hours
	// Forty seconds are tolerated, even if another hour has begun.
	now := began.Add(-30 * time.Second)
	h.mark(now.Add(40 * time.Second))
	h.rewind(now)
	if got := h.share(began.Add(time.Minute)); got != 1 || h.Last != hourOf(began) {
		t.Errorf("coverage %v, the last hour is %d", got, h.Last)
	}
}

func TestPeaksAreKnownOfMeasurementsThatTakeTime(t *testing.T) {
	for _, test := range []struct {
		name   string
		sample Sample
		known  bool
	}{
		{"memory over a time", Sample{Resource: Memory, Length: time.Second}, true},
		{"memory at a moment", Sample{Resource: Memory}, false},
		{"CPU over a time", Sample{Resource: CPU, Length: time.Second}, false},
		{"CPU at a moment", Sample{Resource: CPU}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			test.sample.Pod, test.sample.At = slow, began
			if err := f.Record(web, test.sample, began); err != nil {
				t.Fatal(err)
			}
			v, _ := f.View(web, began)
			want := Known{}
			if test.known {
				want = Known{Begin: began, Coverage: 1}
			}
			if _, _, got := v.Known(v.Types); got != want {
				t.Errorf("peaks: %+v, want %+v", got, want)
			}
		})
	}
}

// noPeaks returns a week without peaks.
func noPeaks() *Week { return &Week{} }

// upTo returns the numbers from 1 to n.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

func TestPeak(t *testing.T) {
	const week = 7 * 24 * time.Hour
	f := newFixture(t)
	f.options.Hours = true
	f.cpu(slow, began.Add(time.Minute), 300)
	f.cpu(slow, began.Add(2*time.Minute), 200)
	f.memory(slow, began.Add(3*time.Minute), 5e8)
	f.memory(slow, began.Add(time.Hour), 1e8)
	peak := func(resource Resource, at time.Time, want int64) {
		t.Helper()
		v, _ := f.View(web, at)
		if got, known := v.Types[0].Peak(resource, at); known != (want > 0) || known && got != want {
			t.Errorf("peak at %v is %d, %v, want %d", at, got, known, want)
		}
	}
	peak(CPU, began.Add(week), 300)
	peak(Memory, began.Add(week+59*time.Minute), 5e8)
	peak(Memory, began.Add(week+time.Hour), 1e8)
	peak(CPU, began.Add(week+time.Hour), 0)
	peak(CPU, began.Add(2*week), 0)
	peak(CPU, began.Add(week-time.Hour), 0)
	peak(CPU, time.Unix(0, 0), 0)
	f.memory(slow, began.Add(week), 2e8)
	peak(Memory, began.Add(2*week), 2e8)
	peak(CPU, began.Add(2*week), 0)
	f.cpu(Pod{UID: "early", NodeType: "n2d"}, began.Add(-time.Minute), 900)
	f.cpu(Pod{UID: "late", NodeType: "n2d"}, began.Add(time.Minute), 900)
	peak(Memory, began.Add(2*week), 2e8)
	peak(CPU, began.Add(2*week), 0)
	t.Run("stays in the hour after which it is forgotten", func(t *testing.T) {
		w := noPeaks()
		w.Hour[3], w.CPU[3], w.Hour[4], w.CPU[4] = 171, 100, 172, 200
		w.forgetAfter(171)
		if w.Hour[3] != 171 || w.CPU[3] != 100 || w.Hour[4] != 0 || w.CPU[4] != 0 {
			t.Errorf("%v %v", w.Hour[:6], w.CPU[:6])
		}
	})
	t.Run("is unknown unless peaks are kept", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 300)
		if v, _ := f.View(web, began); v.Types[0].week != nil {
			t.Error("peaks are kept")
		} else if _, known := v.Types[0].Peak(CPU, began.Add(week)); known {
			t.Error("a peak is known")
		}
	})
}
