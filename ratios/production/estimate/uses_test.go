package estimate

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// group are replicas of one type in a zone that use the given cores each.
type group struct {
	kind, zone string
	count      int
	cpu        float64
	throttled  bool
	work       float64
}

// runs adds hours of a workload that has the given groups in each hour.
func runs(e *evidence.Evidence, w evidence.Key, hours int64, of func(at int64) []group) {
	for at := range hours {
		h := evidence.Hour{Workload: w, Namespace: 10_000 + w, At: 480_000 + at}
		for g, x := range of(at) {
			for i := range x.count {
				h.Replicas = append(h.Replicas, evidence.Replica{
					Node: evidence.KeyOf(x.kind, x.zone, fmt.Sprint(g, i%7)), NodeType: x.kind, Zone: x.zone, CPU: x.cpu, Request: 1, Busy: math.NaN(), Whole: true, Throttled: x.throttled, Work: x.work,
				})
			}
		}
		e.Add(h)
	}
}

// both are two replicas on each of two types in a zone.
func both(cpu float64) []group {
	return []group{{"n2d", "a", 2, cpu, false, 0}, {"n4", "a", 2, cpu, false, 0}}
}

// prepared returns the workloads by key.
func prepared(e *evidence.Evidence) map[evidence.Key]*workload {
	s, latest := Defaults(), latestOf(e)
	slow := make([]slowdown, len(e.Types))
	b := busyOf(e, latest)
	all := workloads(e, slow, &b, latest, judged, &s)
	byKey := map[evidence.Key]*workload{}
	for i := range all {
		byKey[all[i].key] = &all[i]
	}
	return byKey
}

func TestUses(t *testing.T) {
	t.Run("only replicas that are compared decide how much a workload counts", onlyReplicasThatAreComparedDecide)
	t.Run("evidence ends with the last hour in which types were compared", evidenceEndsWithTheLastHourInWhichTypesWereCompared)
	t.Run("cores in throttled hours are on the type", coresInThrottledHoursAreOnTheType)
	t.Run("quiet days hold no workload back", quietDaysHoldNoWorkloadBack)
	t.Run("a workload that moves uses its cores on a type for a part of the time", aWorkloadThatMovesUsesItsCoresForAPartOfTheTime)
	t.Run("how long a workload that moves was on a type does not matter", howLongAWorkloadThatMovesWasOnATypeDoesNotMatter)
	t.Run("replicas elsewhere do not hide that those compared hardly use CPU", replicasElsewhereDoNotHideThatThoseComparedHardlyUseCPU)
}

func onlyReplicasThatAreComparedDecide(t *testing.T) {
	e := evidence.New()
	runs(e, 1, 96, func(int64) []group { return both(1) })
	runs(e, 2, 96, func(int64) []group {
		return append(both(1), group{"n4", "b", 300, 1, false, 0}, group{"e2", "a", 1, 300, false, 0})
	})
	n4 := slices.Index(e.Types, "n4")
	all := prepared(e)
	for key, w := range all {
		if got := w.cores[n4]; math.Abs(got-2) > 0.01 {
			t.Errorf("workload %d: %.2f cores count on n4, want the 2 that are compared", key, got)
		}
		if len(w.cores) != 2 {
			t.Errorf("workload %d: %v", key, w.cores)
		}
	}
}

func coresInThrottledHoursAreOnTheType(t *testing.T) {
	e := evidence.New()
	runs(e, 1, 96, func(at int64) []group {
		of := both(1)
		if at%4 > 0 {
			of = both(5)
			of[1].throttled = true
		}
		return of
	})
	w := prepared(e)[1]
	if got := w.cores[slices.Index(e.Types, "n4")]; math.Abs(got-8) > 0.2 {
		t.Errorf("%.2f cores on n4, want the mean of all hours, which is 8", got)
	}
	if w.held != Throttled {
		t.Errorf("held for %q", w.held)
	}
}

// quietDaysHoldNoWorkloadBack lets a workload rest at night and in the last three days.
func quietDaysHoldNoWorkloadBack(t *testing.T) {
	e := evidence.New()
	runs(e, 1, 10*24, func(at int64) []group {
		if at%24 >= 10 || at >= 7*24 {
			return both(0.004)
		}
		return both(0.05)
	})
	if w := prepared(e)[1]; w.held == TooLittleCPU || w.each < 0.03 {
		t.Errorf("it is held for %q: its replicas use %.3f cores in hours with load, want about 0.05", w.held, w.each)
	}
}

func replicasElsewhereDoNotHideThatThoseComparedHardlyUseCPU(t *testing.T) {
	e := evidence.New()
	runs(e, 1, 96, func(int64) []group { return append(both(0.01), group{"n4", "b", 300, 1, false, 0}) })
	runs(e, 2, 96, func(int64) []group { return append(both(0.05), group{"n4", "b", 300, 0.001, false, 0}) })
	all := prepared(e)
	if got := all[1].held; got != TooLittleCPU {
		t.Errorf("replicas that use 0.01 cores are held for %q", got)
	}
	if got := all[2].held; got == TooLittleCPU {
		t.Errorf("replicas that use 0.05 cores are held for it")
	}
}

func aWorkloadThatMovesUsesItsCoresForAPartOfTheTime(t *testing.T) {
	e := evidence.New()
	runs(e, 1, 12*24, func(at int64) []group {
		return []group{{[]string{"n2d", "n4", "e2"}[at/24%3], "a", 2, 3, false, 1000}}
	})
	w := prepared(e)[1]
	for _, kind := range []string{"n2d", "n4", "e2"} {
		if got := w.cores[slices.Index(e.Types, kind)]; math.Abs(got-2) > 0.4 {
			t.Errorf("%.2f cores on %s, want a third of 6", got, kind)
		}
	}
	if math.Abs(w.each-3) > 0.01 {
		t.Errorf("each replica uses %.2f cores, want 3", w.each)
	}
}

func howLongAWorkloadThatMovesWasOnATypeDoesNotMatter(t *testing.T) {
	e := evidence.New()
	runs(e, 1, 12*24, func(at int64) []group { // Two of three days on n4.
		return []group{{[]string{"n2d", "n4", "n4"}[at/24%3], "a", 2, 3, false, 1000}}
	})
	w := prepared(e)[1]
	for _, kind := range []string{"n2d", "n4"} {
		if got := w.cores[slices.Index(e.Types, kind)]; math.Abs(got-3) > 0.2 {
			t.Errorf("%.2f cores on %s, want half of 6", got, kind)
		}
	}
}

func evidenceEndsWithTheLastHourInWhichTypesWereCompared(t *testing.T) {
	e := evidence.New()
	runs(e, 1, 72, func(at int64) []group {
		if at < 24 {
			return both(1)
		}
		return both(1)[:1]
	})
	if got := Estimate(e, "n2d", Defaults()).Latest; got != 480_000+23 {
		t.Errorf("the evidence ends %d hours after it began, want 23", got-480_000)
	}
}
