package truth

import (
	"fmt"
	"math"
	"testing"
	"time"
)

func TestTruth(t *testing.T) {
	s := Defaults()
	s.Count, s.Nodes = 40, 5
	truth := New(s)
	for _, tc := range []struct {
		name string
		test func(*testing.T, *Truth)
	}{
		{"plain workloads show the ratio, weighted by cores", shows},
		{"the ratios are near the speeds, and differ from them", near},
		{"workloads that pull use as much on all types", pulls},
		{"one pod of a workload that is led uses more", led},
		{"limits throttle only on slow nodes", throttles},
		{"the same seed has the same truth, and another seed another one", same},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, truth) })
	}
}

var start = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

// mean returns the mean logarithm of what the pods of a workload use on all nodes of a type.
func mean(truth *Truth, w *Workload, of string, leads bool) float64 {
	const days, each = 4, 10
	sum, n := 0.0, 0.0
	for node := range truth.Nodes {
		for step := range days * 24 {
			for pod := range each {
				p := Pod{Name: fmt.Sprint(w.Name, of, node, pod), Type: of, Node: node, Leads: leads}
				sum += math.Log(truth.Uses(w, p, start.Add(time.Duration(step)*time.Hour)))
				n++
			}
		}
	}
	return sum / n
}

func shows(t *testing.T, truth *Truth) {
	only := *truth
	only.Workloads = nil
	for i := range truth.Workloads {
		if w := truth.Workloads[i]; w.Kind == Plain {
			only.Workloads = append(only.Workloads, w)
		}
	}
	for _, of := range truth.Types[1:] {
		sum, cores := 0.0, 0.0
		for i := range only.Workloads {
			w := &only.Workloads[i]
			used, base := mean(truth, w, of.Name, false), mean(truth, w, truth.Types[0].Name, false)
			own := w.Cores * math.Exp(used-base)
			sum += own * (base - used)
			cores += own
		}
		if got, want := math.Exp(sum/cores), only.Ratio(of.Name); math.Abs(got/want-1) > 0.01 {
			t.Errorf("%s: usage shows %v, the truth is %v", of.Name, got, want)
		}
	}
}

func near(t *testing.T, truth *Truth) {
	for i, of := range truth.Types {
		got := truth.Ratio(of.Name)
		if i == 0 && got != 1 {
			t.Errorf("the ratio of the baseline is %v", got)
		}
		if i > 0 && (got == of.Speed || math.Abs(got/of.Speed-1) > 0.05) {
			t.Errorf("%s: the ratio is %v, the speed %v", of.Name, got, of.Speed)
		}
	}
}

// first returns the first workload of a kind.
func first(t *testing.T, truth *Truth, kind Kind) *Workload {
	t.Helper()
	for i := range truth.Workloads {
		if w := &truth.Workloads[i]; w.Kind == kind {
			return w
		}
	}
	t.Fatalf("no workload is %s", kind)
	return nil
}

func pulls(t *testing.T, truth *Truth) {
	w := first(t, truth, Pulling)
	if slow, fast := mean(truth, w, "n2d", false), mean(truth, w, "c3", false); math.Abs(slow-fast) > 0.02 {
		t.Errorf("it uses %v and %v", math.Exp(slow), math.Exp(fast))
	}
}

func led(t *testing.T, truth *Truth) {
	if d := mean(truth, first(t, truth, Led), "n4", true) - mean(truth, first(t, truth, Led), "n4", false); math.Abs(d-math.Log(2.5)) > 1e-9 {
		t.Errorf("it uses %v times as much", math.Exp(d))
	}
	if d := mean(truth, first(t, truth, Plain), "n4", true) - mean(truth, first(t, truth, Plain), "n4", false); d != 0 {
		t.Errorf("a pod of a plain workload uses %v times as much", math.Exp(d))
	}
}

func throttles(t *testing.T, truth *Truth) {
	w := first(t, truth, Throttled)
	over := func(of string) (n int) {
		for hour := range 24 {
			if truth.Uses(w, Pod{Name: "p", Type: of}, start.Add(time.Duration(hour)*time.Hour)) > w.Limit() {
				n++
			}
		}
		return n
	}
	if slow, fast := over("n2d"), over("c3"); slow == 0 || fast >= slow {
		t.Errorf("throttled in %d hours on slow nodes, and in %d on fast ones", slow, fast)
	}
	if limit := first(t, truth, Plain).Limit(); limit != 0 {
		t.Errorf("a plain workload has the limit %v", limit)
	}
}

func same(t *testing.T, truth *Truth) {
	s := truth.Settings
	if got, want := New(s).Ratio("c3"), truth.Ratio("c3"); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if s.Seed++; New(s).Ratio("c3") == truth.Ratio("c3") {
		t.Error("another seed changes nothing")
	}
}
