package estimate

import (
	"math"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

func TestSingleWorkloads(t *testing.T) {
	t.Run("differ if their interval excludes the cluster's ratio", workloadsDifferIfTheirIntervalExcludesTheClustersRatio)
	t.Run("are drawn toward others if little is known of them", workloadsAreDrawnTowardOthersIfLittleIsKnownOfThem)
	t.Run("have no ratios if they do not count", workloadsHaveNoRatiosIfTheyDoNotCount)
}

// varied returns evidence of workloads that differ by more than their replicas and nodes do.
func varied() *evidence.Evidence {
	e := chain(200)
	for i := range 200 {
		e.Workloads[evidence.Key(i)].Cells[0].Like.Mean -= 0.05 * math.Sin(float64(i*i))
	}
	e.Workloads[1].Cells[0].Like = evidence.Compared{Moments: evidence.Moments{N: 150, Mean: -math.Log(1.2) - 0.22, Squares: 150 * 0.02}}
	return e
}

// typesOf returns what is known of one workload.
func typesOf(t *testing.T, e *evidence.Evidence, key evidence.Key) []WorkloadType {
	t.Helper()
	for _, w := range Estimate(e, "n2d", Defaults()).Workloads {
		if w.Key == key {
			return w.Types
		}
	}
	t.Fatalf("no workload has the key %d", key)
	return nil
}

func workloadsDifferIfTheirIntervalExcludesTheClustersRatio(t *testing.T) {
	e := varied()
	own := typesOf(t, e, 1)
	if len(own) != 1 || own[0].NodeType != "n4" {
		t.Fatalf("%+v", own)
	}
	if x := own[0]; !x.Differs || x.Ratio.Ratio < 1.2*1.12 || !x.Ratio.contains(1.2*math.Exp(0.22)) || x.Cores <= 0 {
		t.Errorf("%+v", x)
	}
	if x := typesOf(t, e, 0)[0]; x.NodeType != "e2" || x.Differs { // It is like the mean.
		t.Errorf("%+v", x)
	}
	// Less is known of it relative to a baseline on which it never ran.
	if far := elsewhere(t, e); far.Ratio.half() < own[0].Ratio.half()*1.2 {
		t.Errorf("%+v, and from the type it is compared with %+v", far, own[0])
	}
}

// elsewhere returns how fast n4 is for workload 1 relative to e2, on which it never ran.
func elsewhere(t *testing.T, e *evidence.Evidence) WorkloadType {
	t.Helper()
	own := Estimate(e, "e2", Defaults()).Workloads[1].Types
	if len(own) != 2 || own[1].NodeType != "n4" {
		t.Fatalf("%+v", own)
	}
	return own[1]
}

func workloadsAreDrawnTowardOthersIfLittleIsKnownOfThem(t *testing.T) {
	e := varied()
	c := &e.Workloads[1].Cells[0]
	much := typesOf(t, e, 1)[0]
	c.Like.N, c.Like.Squares, c.Spread = 30, 30*0.02, [2]float64{0.08, 0.08}
	little := typesOf(t, e, 1)[0]
	if little.Differs || little.Ratio.Ratio > much.Ratio.Ratio || little.Ratio.half() < 1.1*much.Ratio.half() {
		t.Errorf("%+v, and with more hours %+v", little, much)
	}
}

func workloadsHaveNoRatiosIfTheyDoNotCount(t *testing.T) {
	e := chain(200)
	e.Workloads[1].Pulls = true
	if own := typesOf(t, e, 1); len(own) > 0 {
		t.Errorf("%+v", own)
	}
}
