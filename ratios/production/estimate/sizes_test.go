package estimate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// resized returns a chain of workloads whose replicas were resized by the ratios: replicas on the faster type are smaller. Then
// they do as much less of the work as a power of their size. Workloads of which the change is not known were never of one size.
func resized(power float64, alike func(i int) bool) *evidence.Evidence {
	e := chain(200)
	for i := range 200 {
		c := &e.Workloads[evidence.Key(i)].Cells[0]
		c.Spread = [2]float64{0.01, 0.01}
		c.Unlike, c.Sizes = c.Like, -math.Log([2]float64{1.1, 1.2}[i%2])
		c.Unlike.Mean += power * c.Sizes
		if alike(i) {
			c.Change = evidence.Change{Hours: 48, Mean: power * c.Sizes, Sizes: c.Sizes}
		} else {
			c.Like = evidence.Compared{}
		}
	}
	return e
}

func TestSizes(t *testing.T) {
	t.Run("others show that sizes do not matter", othersShowThatSizesDoNotMatter)
	t.Run("others show that sizes matter", othersShowThatSizesMatter)
	t.Run("hours that count then connect types", hoursThatCountThenConnectTypes)
	t.Run("sizes that were alike long ago show it", sizesThatWereAlikeLongAgoShowIt)
	t.Run("few others do not", fewOthersDoNot)
	t.Run("those that were never alike show a ratio that is not applied", thoseThatWereNeverAlikeShowARatioThatIsNotApplied)
	t.Run("enough hours with like sizes count alone", enoughHoursWithLikeSizesCountAlone)
	t.Run("old workloads do not hide that sizes differ", oldWorkloadsDoNotHideThatSizesDiffer)
	t.Run("a ratio is the less certain the more sizes differ", aRatioIsTheLessCertainTheMoreSizesDiffer)
	t.Run("those that pull teach nothing", thoseThatPullTeachNothing)
	t.Run("those that may pull teach nothing", thoseThatMayPullTeachNothing)
	t.Run("those that are held back teach nothing", thoseThatAreHeldBackTeachNothing)
}

func othersShowThatSizesDoNotMatter(t *testing.T) {
	// Half of the workloads on each pair show it.
	r := Estimate(resized(0, func(i int) bool { return i%4 < 2 }), "e2", Defaults())
	if x := of(t, r, "n4"); x.Workloads < 95 || math.Abs(x.Cluster.Ratio-1.32) > 0.02 {
		t.Errorf("%+v", x)
	}
}

func othersShowThatSizesMatter(t *testing.T) {
	r := Estimate(resized(0.5, func(i int) bool { return i%4 < 2 }), "e2", Defaults())
	if x := of(t, r, "n4"); x.Workloads > 55 || x.Held[SizesUnlike] < 45 || math.Abs(x.Cluster.Ratio-1.32) > 0.02 {
		t.Errorf("%+v", x)
	}
}

func hoursThatCountThenConnectTypes(t *testing.T) {
	// Only e2 and n2d were compared with like sizes. Others compare n4 with c3.
	e := resized(0, func(i int) bool { return i%2 == 0 })
	for i := range 100 {
		e.Workloads[evidence.Key(2*i)].Cells[0].Change.Sizes = -0.4
	}
	e.Types, e.Slowdown = append(e.Types, "c3"), append(e.Slowdown, evidence.Slowdown{})
	for i := range 50 {
		c := cell(2, 3, math.Log(1.1)+0.05*math.Sin(float64(i)))
		c.Spread = [2]float64{0.01, 0.01}
		e.Workloads[evidence.Key(1000+i)] = using(1, c)
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "c3"); math.Abs(x.Population.Ratio-1.32*1.1) > 0.03 || x.Workloads != 50 {
		t.Errorf("%+v", x)
	}
}

func sizesThatWereAlikeLongAgoShowIt(t *testing.T) {
	e := resized(0, func(i int) bool { return i%4 < 2 })
	for _, w := range e.Workloads {
		c := &w.Cells[0]
		c.Like.N, c.Like.Squares = c.Like.N/100, c.Like.Squares/100
		c.Spread = [2]float64{0.002, 0.002}
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); x.Workloads < 95 || math.Abs(x.Cluster.Ratio-1.32) > 0.02 {
		t.Errorf("%+v", x)
	}
}

func fewOthersDoNot(t *testing.T) {
	r := Estimate(resized(0, func(i int) bool { return i < 4 }), "e2", Defaults())
	if x := of(t, r, "n4"); sizesUnlike(r) < 190 || !slices.Contains(codes(x), SizesDiffer) {
		t.Errorf("%+v", x)
	}
}

// sizesUnlike returns how many workloads do not count for their sizes.
func sizesUnlike(r Result) int {
	n := 0
	for _, w := range r.Workloads {
		if w.Held == SizesUnlike {
			n++
		}
	}
	return n
}

func thoseThatWereNeverAlikeShowARatioThatIsNotApplied(t *testing.T) {
	r := Estimate(resized(0, func(int) bool { return false }), "e2", Defaults())
	x := of(t, r, "n4")
	if math.Abs(x.Cluster.Ratio/1.32-1) > 0.02 || x.Workloads != 100 || !slices.Equal(codes(x), []Code{SizesDiffer}) || sizesUnlike(r) != 200 {
		t.Errorf("%+v", x)
	}
	if !strings.Contains(x.Doubts[0].Detail, "by a factor of about 1.20") {
		t.Errorf("%+v", x.Doubts)
	}
	// A fifth of them follows sizes, as is usual.
	e := resized(0, func(int) bool { return false })
	for i := range 40 {
		c := &e.Workloads[evidence.Key(i)].Cells[0]
		c.Unlike.Mean += follow * c.Sizes
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); x.Cluster.Low > 1.32 || x.Cluster.High < 1.32 || len(x.Doubts) == 0 {
		t.Errorf("%+v", x)
	}
}

func aRatioIsTheLessCertainTheMoreSizesDiffer(t *testing.T) {
	half := func(sizes float64) float64 {
		e := resized(0, func(int) bool { return false })
		for _, w := range e.Workloads {
			w.Cells[0].Sizes *= sizes
		}
		return of(t, Estimate(e, "e2", Defaults()), "n4").Cluster.half()
	}
	if little, much := half(0.2), half(1); much < 2*little {
		t.Errorf("±%.3f if sizes differ little, and ±%.3f if they differ much", little, much)
	}
}

// pulling returns evidence in which sizes matter to most, which were never alike. Others pull their work: they use the
// same whatever their sizes are.
func pulling() *evidence.Evidence {
	e := resized(0.5, func(int) bool { return false })
	for i := range 60 {
		c := &e.Workloads[evidence.Key(i)].Cells[0]
		c.Like = cell(c.A, c.B, 0).Like
		c.Unlike, c.Change = c.Like, evidence.Change{Hours: 48, Sizes: c.Sizes}
	}
	// Some show the difference between the types: their sizes are still alike.
	for i := 160; i < 200; i++ {
		c := &e.Workloads[evidence.Key(i)].Cells[0]
		c.Like, c.Unlike, c.Sizes = c.Unlike, evidence.Compared{}, 0
		c.Like.Mean -= 0.5 * -math.Log([2]float64{1.1, 1.2}[i%2])
	}
	return e
}

func thoseThatPullTeachNothing(t *testing.T) {
	for _, known := range []bool{false, true} {
		e := pulling()
		for i := range 60 {
			e.Workloads[evidence.Key(i)].Pulls = known
		}
		r := Estimate(e, "e2", Defaults())
		if x := of(t, r, "n4"); x.Held[SizesUnlike] < 45 || math.Abs(x.Population.Ratio-1.32) > 0.03 {
			t.Errorf("known to pull: %v: %+v", known, x)
		}
	}
}

// thoseThatMayPullTeachNothing checks workloads whose types differ by so little that they may pull or not.
func thoseThatMayPullTeachNothing(t *testing.T) {
	e := resized(0.5, func(int) bool { return false })
	for i := range 200 {
		w := e.Workloads[evidence.Key(i)]
		c := &w.Cells[0]
		if i%2 == 0 { // n2d is hardly faster than e2.
			c.Unlike.Mean = -0.02 + 0.05*math.Sin(float64(i*i))
			c.Sizes = -0.02
		}
		if i%2 == 0 && i < 60 {
			c.Like, c.Unlike, c.Change = c.Unlike, c.Like, evidence.Change{Hours: 48, Sizes: -0.3}
			c.Spread = [2]float64{0.001, 0.001}
		}
	}
	if r := Estimate(e, "e2", Defaults()); sizesUnlike(r) < 165 {
		t.Errorf("%+v", of(t, r, "n4"))
	}
}

func thoseThatAreHeldBackTeachNothing(t *testing.T) {
	e := resized(0, func(i int) bool { return i < 100 })
	for i := range 100 {
		e.Workloads[evidence.Key(i)].Throttled = 100
	}
	if r := Estimate(e, "e2", Defaults()); sizesUnlike(r) < 95 {
		t.Errorf("%+v", of(t, r, "n4"))
	}
}

// oldWorkloadsDoNotHideThatSizesDiffer checks that sizes are named, not the days, if workloads whose sizes were alike hardly count any longer.
func oldWorkloadsDoNotHideThatSizesDiffer(t *testing.T) {
	e := resized(0, func(int) bool { return false })
	for i := range 40 {
		c := &e.Workloads[evidence.Key(i)].Cells[0]
		c.Like, c.Unlike, c.Sizes = c.Unlike, evidence.Compared{}, 0
		c.Like.N, c.Like.Squares, c.Slope.Days = 15, 15*0.02, 2
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); !slices.Equal(codes(x), []Code{SizesDiffer}) {
		t.Errorf("%+v", x)
	}
}

// enoughHoursWithLikeSizesCountAlone checks the first days of workloads that were resized after enough hours.
func enoughHoursWithLikeSizesCountAlone(t *testing.T) {
	e := resized(0.5, func(int) bool { return false })
	for _, w := range e.Workloads {
		c := &w.Cells[0]
		c.Like = c.Unlike
		c.Like.N, c.Like.Squares, c.Slope.Days = 30, 30*0.02, 2
		c.Like.Mean -= 0.5 * c.Sizes
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); math.Abs(x.Cluster.Ratio/1.32-1) > 0.02 || !slices.Equal(codes(x), []Code{TooFewDays}) {
		t.Errorf("%+v", x)
	}
}
