package compare

import (
	"fmt"
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// works has each pod on n4 do more than one on n2d, as a load balancer that notices which are fast would have it.
func (w *world) works(by Work) {
	w.work = map[string]Work{}
	for i := range 4 {
		name := fmt.Sprint("web-", i)
		w.work[name], w.cores[name] = by, 1
		if by.Done > 0 {
			w.work[name] = Work{Unit: by.Unit, Done: [2]float64{by.Done, 1.25 * by.Done}[i/2]}
		}
	}
}

func knowsWhichPodsPullWork(t *testing.T) {
	w := newWorld(t)
	w.work = map[string]Work{"web-2": {Pulls: true}}
	w.pass(70)
	if of := w.Evidence().Workloads[web]; of == nil || !of.Pulls {
		t.Errorf("of a workload that pulls: %+v", of)
	}
	w.work = nil
	w.pass(60)
	if w.Evidence().Workloads[web].Pulls {
		t.Error("it does not pull any longer")
	}
}

func podsAreComparedByWhatTheyDo(t *testing.T) {
	w := newWorld(t)
	w.works(Work{Unit: 1, Done: 40})
	w.pass(70)
	if n, mean := w.hours(); n != 1 || !near(mean, math.Log(0.8), 1e-6) {
		t.Errorf("%v hours, %v, want 1 and %v", n, mean, math.Log(0.8))
	}
	// While Prometheus does not answer, hours do not count.
	w.works(Work{Unit: 1})
	w.pass(60)
	if n, mean := w.hours(); !near(n, 1, 0.01) || !near(mean, math.Log(0.8), 1e-6) {
		t.Errorf("after an hour without work: %v hours, %v", n, mean)
	}
}

func workInUnlikeUnitsIsNotCompared(t *testing.T) {
	w := newWorld(t)
	w.works(Work{Unit: 1, Done: 40})
	is := w.work["web-3"]
	is.Unit = 2
	w.work["web-3"] = is
	w.pass(70)
	if n, _ := w.hours(); n != 0 {
		t.Errorf("%v hours count in which the pods of a workload have work in two units", n)
	}
	version := revisionOf(w.pods["web-0"], &Work{})
	for _, other := range []Work{{Unit: 1}, {Unit: 2}} {
		if got := revisionOf(w.pods["web-0"], &other); got == version {
			t.Errorf("the same version with work in unit %d as before it was counted", other.Unit)
		}
	}
	if got := revisionOf(w.pods["web-0"], &Work{Pulls: true}); got != version {
		t.Error("another version because it pulls")
	}
}

func countsFractionsOfMillicores(t *testing.T) {
	w := newWorld(t)
	for i, name := range []string{"web-0", "web-1", "web-2", "web-3"} {
		w.cores[name] = [2]float64{0.0125, 0.0105}[i/2]
	}
	w.pass(70)
	if n, mean := w.hours(); n != 1 || !near(mean, math.Log(10.5/12.5), 1e-4) {
		t.Errorf("%v hours, %v, want 1 and %v", n, mean, math.Log(10.5/12.5))
	}
}

func aPodNearItsLimitCountsAsThrottled(t *testing.T) {
	for name, tc := range map[string]struct {
		cores, throttled float64
		limit            string
		minutes          int
		want             bool
	}{
		"near it, unknown":              {0.8, -1, "1", 4, true},
		"beyond it, unknown":            {1.1, -1, "1", 4, true},
		"near it for a short time":      {0.8, -1, "1", 2, false},
		"below it, unknown":             {0.79, -1, "1", 4, false},
		"no limit":                      {30, -1, "", 4, false},
		"near it, known to be well":     {0.99, 0, "1", 4, false},
		"below it, known to be limited": {0.3, 0.05, "1", 1, true},
	} {
		w := newWorld(t)
		w.change("web-3", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = podtest.Amounts{"500m", tc.limit, "1Gi", ""}.Requirements()
		})
		w.cores["web-3"], w.throttled["web-3"] = 0.1, min(tc.throttled, 0)
		w.pass(30)
		w.cores["web-3"], w.throttled["web-3"] = tc.cores, tc.throttled
		w.pass(tc.minutes)
		w.cores["web-3"], w.throttled["web-3"] = 0.1, min(tc.throttled, 0)
		w.pass(34 - tc.minutes)
		if r := w.on("node-3"); r.Throttled != tc.want {
			t.Errorf("%s: %+v", name, r)
		}
		if r := w.on("node-2"); r.Throttled {
			t.Errorf("%s: another pod: %+v", name, r)
		}
	}
	// A source without counters does not matter if another one counts.
	w := newWorld(t)
	w.change("web-3", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = podtest.Amounts{"500m", "1", "1Gi", ""}.Requirements()
	})
	w.cores["web-3"] = 0.9
	for range 65 {
		w.throttled["web-3"] = 0
		w.pass(1)
		w.throttled["web-3"] = -1
		w.measure(w.now)
	}
	if r := w.on("node-3"); r.Throttled {
		t.Errorf("%+v", r)
	}
}

func aFewPodsWithoutSamplesDoNotHideHowBusyANodeIs(t *testing.T) {
	w := newWorld(t)
	for node, requests := range map[string][]string{"node-0": {"800m"}, "node-1": {"500m", "301m"}, "node-2": {""}} {
		for i, request := range requests {
			name := fmt.Sprint("agent-", node, "-", i)
			w.run(name, node, func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources = podtest.Amounts{request, "", "", ""}.Requirements()
			})
			w.unmeasured[name+"/app"] = true
		}
	}
	w.pass(65)
	if r := w.on("node-0"); !near(r.Busy, 0.1, 1e-6) {
		t.Errorf("with a tenth of it requested by a pod without samples: %+v", r)
	}
	for _, node := range []string{"node-1", "node-2"} {
		if r := w.on(node); !math.IsNaN(r.Busy) {
			t.Errorf("%s: busy %v, but it may be anything", node, r.Busy)
		}
	}
	if r := w.on("node-3"); r.Busy != 0 {
		t.Errorf("without such pods: %+v", r)
	}
}

// TestInterval checks that pods are compared however rarely they are measured, for a part of each interval only.
func TestInterval(t *testing.T) {
	for every, enough := range map[time.Duration]int{time.Minute: 12, 150 * time.Second: 12, 5 * time.Minute: 6, 7 * time.Minute: 4, 10 * time.Minute: 3, 30 * time.Minute: 1} {
		if got := slots / partFor(every); got != enough {
			t.Errorf("every %v: %d parts, want %d", every, got, enough)
		}
	}
	for _, every := range []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 7 * time.Minute, 10 * time.Minute} {
		w := newWorld(t)
		w.Comparisons = New(every)
		w.run("other", "node-0")
		w.cores["other"] = 4
		for i := 0; !w.now.After(began.Add(75 * time.Minute)); i++ {
			w.now = w.now.Add(every)
			for name, of := range w.pods {
				// metrics-server measures 15 seconds, and not at the same time in each minute.
				at := w.now.Add(-time.Duration(i*17%59) * time.Second)
				w.Take(of, "app", &Sample{At: at, Length: 15 * time.Second, Cores: w.cores[name]}, w.now)
			}
			if w.now.Before(began.Add(Late)) && !w.now.Before(began) {
				if r := w.on("node-0"); !r.Whole || !near(r.Busy, 0.5, 1e-6) {
					t.Errorf("every %v: %+v", every, r)
				}
			}
			w.fold()
		}
		if n, mean := w.hours(); n < 1 || !near(mean, math.Log(0.8), 1e-6) {
			t.Errorf("every %v: %v hours, %v", every, n, mean)
		}
	}
	w := newWorld(t)
	w.Comparisons = New(10 * time.Minute)
	for minute := 10; minute <= 60; minute += 10 {
		if w.now = began.Add(time.Duration(minute-60) * time.Minute); minute < 30 || minute > 40 {
			w.measure(w.now)
		}
	}
	if r := w.on("node-0"); r.Whole {
		t.Errorf("with 20 minutes without samples: %+v", r)
	}
}
