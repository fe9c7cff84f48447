package estimate

import (
	"math"
	"slices"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// moved is a cell of types that were compared on different days, of five moves.
func moved(a, b int, ratio, variance float64) evidence.Cell {
	return evidence.Cell{
		A: a, B: b, Apart: evidence.Compared{Moments: evidence.Moments{N: 5, Mean: -ratio, Squares: 5 * variance}},
		Spread: [2]float64{0.04, 0.04}, Replicas: [2]float64{4, 4},
	}
}

func TestKnownWork(t *testing.T) {
	t.Run("is not held back for how work is shared", isNotHeldBackForHowWorkIsShared)
	t.Run("is compared with others whose work is known", isComparedWithOthersWhoseWorkIsKnown)
	t.Run("counts what moves between types", countsWhatMovesBetweenTypes)
	t.Run("is as certain as moves agree", isAsCertainAsMovesAgree)
}

func isNotHeldBackForHowWorkIsShared(t *testing.T) {
	e := chain(200)
	for i := range 40 {
		w := e.Workloads[evidence.Key(i)]
		w.Known, w.Pulls = true, i%2 == 0
		// It looks like replicas that pull work: a small difference that no load changes.
		w.Cells[0].Like.Mean, w.Cells[0].Slope = -0.02, evidence.Slope{}
	}
	held := 0
	r := Estimate(e, "e2", Defaults())
	for _, w := range r.Workloads[:40] {
		if w.Held != "" && w.Held != Odd {
			held++
		}
	}
	if held > 0 {
		t.Errorf("%d of 40 are held back", held)
	}
}

func isComparedWithOthersWhoseWorkIsKnown(t *testing.T) {
	// Units of work cost the same on all replicas of most workloads. Usage differs by more for the few others.
	e := chain(200)
	for i := range 150 {
		w := e.Workloads[evidence.Key(i)]
		w.Known, w.Cells[0].Spread = true, [2]float64{0.001, 0.001}
	}
	r := Estimate(e, "e2", Defaults())
	for _, w := range r.Workloads[150:] {
		if w.Held != "" {
			t.Fatalf("held for %s", w.Held)
		}
	}
}

func countsWhatMovesBetweenTypes(t *testing.T) {
	e := chain(200)
	for i := range 200 {
		w := e.Workloads[evidence.Key(i)]
		w.Known = true
		w.Cells[0] = moved(i%2, i%2+1, -w.Cells[0].Like.Mean, 0.01)
		letUse(w, 1)
	}
	r := Estimate(e, "e2", Defaults())
	if x := of(t, r, "n4"); math.Abs(x.Cluster.Ratio-1.32) > 0.02 || x.Workloads != 100 || len(x.Doubts) > 0 {
		t.Errorf("%+v", x)
	}
	for _, w := range e.Workloads {
		w.Cells[0].Apart.N = 1
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); !slices.Contains(codes(x), TooFewDays) || x.Cluster.half() < 0.04 {
		t.Errorf("one move is enough: %+v", x)
	}
}

func isAsCertainAsMovesAgree(t *testing.T) {
	half := func(variance float64) float64 {
		e := chain(200)
		for i := range 200 {
			w := e.Workloads[evidence.Key(i)]
			w.Known = true
			w.Cells[0] = moved(i%2, i%2+1, -w.Cells[0].Like.Mean, variance)
			letUse(w, 1)
		}
		x := of(t, Estimate(e, "e2", Defaults()), "n4")
		return x.Population.half()
	}
	if few, many := half(0.001), half(0.5); many < 1.5*few {
		t.Errorf("±%.3f if moves agree, and ±%.3f if not", few, many)
	}
}
