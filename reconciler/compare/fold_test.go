package compare

import (
	"fmt"
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestFold(t *testing.T) {
	t.Run("an hour shows how types differ", anHourShowsHowTypesDiffer)
	t.Run("pods that changed in the hour are not whole", podsThatChangedInTheHourAreNotWhole)
	t.Run("a restart counts for the next hour, too", aRestartCountsForTheNextHourToo)
	t.Run("a pod is one replica", aPodIsOneReplica)
	t.Run("an hour with two revisions does not count", anHourWithTwoRevisionsDoesNotCount)
	t.Run("a pod that moves is another replica", aPodThatMovesIsAnotherReplica)
	t.Run("a node without a type is not compared", aNodeWithoutATypeIsNotCompared)
	t.Run("knows how busy others keep a node", knowsHowBusyOthersKeepANode)
	t.Run("a few pods without samples do not hide how busy a node is", aFewPodsWithoutSamplesDoNotHideHowBusyANodeIs)
	t.Run("a pod near its limit counts as throttled", aPodNearItsLimitCountsAsThrottled)
	t.Run("knows which pods pull work", knowsWhichPodsPullWork)
	t.Run("pods are compared by what they do", podsAreComparedByWhatTheyDo)
	t.Run("work in unlike units is not compared", workInUnlikeUnitsIsNotCompared)
	t.Run("counts fractions of millicores", countsFractionsOfMillicores)
	t.Run("reads the cluster once per hour", readsTheClusterOncePerHour)
	t.Run("forgets pods that are gone", forgetsPodsThatAreGone)
	t.Run("pods that have ended or begun say nothing of an hour", podsThatHaveEndedOrBegunSayNothingOfAnHour)
	t.Run("goes on after weeks without samples", goesOnAfterWeeksWithoutSamples)
}

func anHourShowsHowTypesDiffer(t *testing.T) {
	w := newWorld(t)
	w.pass(60 + 9) // The first hour has just begun for a process that starts in it.
	if n, _ := w.hours(); n != 0 {
		t.Fatalf("%v hours count before their samples had time to arrive", n)
	}
	w.pass(1)
	n, mean := w.hours()
	if n != 1 || !near(mean, math.Log(0.8), 1e-6) {
		t.Errorf("%v hours, %v, want 1 and %v", n, mean, math.Log(0.8))
	}
	e := w.Evidence()
	if len(e.Nodes) != 4 {
		t.Errorf("%d nodes", len(e.Nodes))
	}
	if got := e.Workloads[web].Namespace; got != evidence.KeyOf(w.pods["web-0"].Namespace()) {
		t.Errorf("namespace %v", got)
	}
	if e.Workloads[web].Cells[0].Uses.Cores = [2]float64{}; !near(coresOf(w), 3.6, 1e-3) {
		t.Errorf("%v cores: a copy is not a copy, or sums are wrong", coresOf(w))
	}
}

// coresOf returns how many cores the workload uses on both types.
func coresOf(w *world) float64 {
	cores := w.Evidence().Workloads[web].Cells[0].Uses.Cores
	return cores[0] + cores[1]
}

// second is when a time of an hour is, in seconds since podtest.Start.
func second(at time.Time) int { return int(at.Sub(podtest.Start) / time.Second) }

func podsThatChangedInTheHourAreNotWhole(t *testing.T) {
	cpu := func(request string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = podtest.Amounts{request, "", "1Gi", ""}.Requirements()
		}
	}
	for name, tc := range map[string]struct {
		do    func(w *world, at time.Time)
		whole bool
	}{
		"another limit": {func(w *world, _ time.Time) {
			w.change("web-3", func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources = podtest.Amounts{"1", "2", "1Gi", ""}.Requirements()
			})
		}, false},
		"nothing": {func(*world, time.Time) {}, true},
		"resized": {func(w *world, _ time.Time) { w.change("web-3", cpu("800m")) }, false},
		"resized, and back": {func(w *world, _ time.Time) {
			w.change("web-3", cpu("800m"))
			w.pass(1)
			w.change("web-3", cpu("1"))
		}, false},
		"resized by us, its memory": {func(w *world, at time.Time) {
			w.change("web-3", podtest.Annotated("original-memory.app", "2Gi", "applied-instance-type", "n4"), podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(second(at), "app")))
		}, false},
		"restarted": {func(w *world, _ time.Time) {
			w.change("web-3", func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ })
		}, false},
		"not ready":   {func(w *world, at time.Time) { w.change("web-3", podtest.Readiness(false, second(at))) }, false},
		"ready again": {func(w *world, at time.Time) { w.change("web-3", podtest.Readiness(true, second(at))) }, false},
		"being deleted": {func(w *world, at time.Time) {
			w.change("web-3", func(p *corev1.Pod) {
				stamp := metav1.NewTime(at)
				p.DeletionTimestamp, p.Finalizers = &stamp, []string{"a"}
			})
		}, false},
		"started": {func(w *world, at time.Time) { w.run("web-3", "node-3", created(at)) }, false},
		"not measured for 9 minutes": {func(w *world, _ time.Time) {
			w.unmeasured["web-3/app"] = true
			w.pass(9)
			w.unmeasured["web-3/app"] = false
		}, true},
		"not measured for 15 minutes": {func(w *world, _ time.Time) {
			w.unmeasured["web-3/app"] = true
			w.pass(15)
			w.unmeasured["web-3/app"] = false
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.pass(20)
			tc.do(w, w.now)
			w.pass(second(began.Add(5*time.Minute))/60 - second(w.now)/60)
			if r := w.on("node-3"); r.Whole != tc.whole {
				t.Errorf("whole: %t", r.Whole)
			}
			if r := w.on("node-2"); !r.Whole || !near(r.CPU, 0.8, 1e-6) || r.Request != 1 || r.NodeType != "n4" || r.Zone != "a" || r.CPUModel != "milan" {
				t.Errorf("of another pod: %+v", r)
			}
			w.pass(6)
			if n, _ := w.hours(); (n == 1) != tc.whole {
				t.Errorf("%v hours count", n)
			}
		})
	}
}

func aRestartCountsForTheNextHourToo(t *testing.T) {
	w := newWorld(t)
	w.pass(30)
	w.change("web-3", func(p *corev1.Pod) { p.Status.ContainerStatuses[0].RestartCount++ })
	w.pass(30 + 60 + 5)
	if w.on("node-3").Whole {
		t.Error("it counts an hour after its caches were empty")
	}
	w.pass(60)
	if !w.on("node-3").Whole {
		t.Error("it never counts")
	}
	w.pass(10)
	if n, _ := w.hours(); n != 1 {
		t.Errorf("%v hours count", n)
	}
}

func aPodIsOneReplica(t *testing.T) {
	w := newWorld(t)
	two := func(p *corev1.Pod) {
		podtest.WithSecond(podtest.Amounts{"500m", "", "1Gi", ""})(p)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "second", Ready: true})
		p.Spec.InitContainers = []corev1.Container{{Name: "init"}}
	}
	for name := range w.pods {
		w.change(name, two)
	}
	w.pass(65)
	if r := w.replicas(); len(r) != 4 {
		t.Errorf("%d replicas", len(r))
	}
	if r := w.on("node-3"); !r.Whole || !near(r.CPU, 1.6, 1e-6) || r.Request != 1.5 {
		t.Errorf("%+v", r)
	}
	w.change("web-2", func(p *corev1.Pod) { p.Spec.Containers[1].Resources = podtest.Amounts{}.Requirements() })
	if r := w.on("node-2"); r.Request != 0 {
		t.Errorf("one of them requests nothing: %+v", r)
	}
	w.unmeasured["web-3/second"] = true
	w.pass(60)
	if r := w.on("node-3"); r.Whole {
		t.Errorf("half of it is not measured: %+v", r)
	}
	w.throttled["web-2"] = 0.2
	w.pass(60)
	if r := w.on("node-2"); !r.Throttled {
		t.Errorf("%+v", r)
	}
	delete(w.pods, "web-1")
	delete(w.pods, "web-3")
	delete(w.throttled, "web-2")
	w.Comparisons = New(time.Minute)
	reads := w.reads
	w.pass(60 + 10 + 60)
	if n, _ := w.hours(); n != 0 || w.reads == reads {
		t.Errorf("%v hours of two containers of one pod per type count, the cluster was read %d times", n, w.reads-reads)
	}
}

func anHourWithTwoRevisionsDoesNotCount(t *testing.T) {
	w := newWorld(t)
	w.run("web-4", "node-0", created(began.Add(-time.Minute)), func(p *corev1.Pod) { p.Labels = map[string]string{"pod-template-hash": "2"} })
	w.pass(70)
	if n, _ := w.hours(); n != 0 {
		t.Errorf("%v hours count in which a rollout began", n)
	}
	w = newWorld(t)
	w.run("web-4", "node-0", created(began.Add(time.Minute)), func(p *corev1.Pod) { p.Labels = map[string]string{"pod-template-hash": "2"} })
	w.pass(70)
	if n, _ := w.hours(); n != 1 {
		t.Errorf("%v hours count before a rollout began", n)
	}
	w = newWorld(t)
	for name, uid := range map[string]types.UID{"web-0": "a", "web-1": "a", "web-2": "a", "web-3": "b"} {
		w.change(name, func(p *corev1.Pod) { p.Labels, p.OwnerReferences[0].UID = nil, uid })
	}
	w.pass(70)
	if n, _ := w.hours(); n != 0 {
		t.Errorf("%v hours of two controllers count", n)
	}
}

func aPodThatMovesIsAnotherReplica(t *testing.T) {
	w := newWorld(t)
	w.pass(30)
	moved := w.now
	w.places["node-9"] = Place{NodeType: "n2d", Zone: "a"}
	w.run("web-3", "node-9", created(moved), func(p *corev1.Pod) { p.UID = "again" })
	w.pass(40)
	if n, _ := w.hours(); n != 0 {
		t.Errorf("%v hours count", n)
	}
	w.pass(60 + 60 - 5)
	if r := w.on("node-9"); !r.Whole || !near(r.CPU, 0.8, 1e-6) {
		t.Errorf("after two hours: %+v", r)
	}
	if _, still := w.replicas()[w.usages[w.key(w.pods["web-3"], "app")].node]; !still || len(w.replicas()) != 4 {
		t.Errorf("%+v", w.replicas())
	}
}

func aNodeWithoutATypeIsNotCompared(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"without a type": func(w *world) { w.places["node-3"] = Place{Zone: "a", CPUs: 8} },
		"not known":      func(w *world) { delete(w.places, "node-3") },
	} {
		w := newWorld(t)
		change(w)
		w.pass(65)
		if r := w.on("node-3"); r.Whole || r.NodeType != "" || !near(r.CPU, 0.8, 1e-6) {
			t.Errorf("%s: %+v", name, r)
		}
		w.pass(5)
		if e := w.Evidence(); len(e.Workloads) != 0 {
			t.Errorf("%s: %+v", name, e.Workloads[web])
		}
	}
}

func knowsHowBusyOthersKeepANode(t *testing.T) {
	w := newWorld(t)
	w.run("other", "node-0")
	w.cores["other"] = 3
	w.run("job", "node-1")
	w.cores["job"] = 6
	w.pass(30)
	delete(w.pods, "job") // It used 6 cores for half of the hour.
	w.pass(35)
	if r := w.on("node-0"); !near(r.Busy, 3.0/8, 1e-6) {
		t.Errorf("%+v", r)
	}
	if r := w.on("node-1"); !near(r.Busy, 3.0/8, 0.02) {
		t.Errorf("with a pod that has ended: %+v", r)
	}
	if r := w.on("node-2"); r.Busy != 0 {
		t.Errorf("alone: %+v", r)
	}
	w.unmeasured["other/app"] = true
	w.run("static", "node-2", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "a"} })
	w.run("broken", "node-2", func(p *corev1.Pod) { p.Status.ContainerStatuses[0].Ready = false })
	w.unmeasured["static/app"], w.unmeasured["broken/app"] = true, true
	w.places["node-3"] = Place{NodeType: "n4", Zone: "a"}
	w.pass(60)
	for node, known := range map[string]bool{"node-0": false, "node-1": true, "node-2": true, "node-3": false} {
		if r := w.on(node); math.IsNaN(r.Busy) == known {
			t.Errorf("%s: busy %v", node, r.Busy)
		}
	}
}

func readsTheClusterOncePerHour(t *testing.T) {
	w := newWorld(t)
	w.pass(5*60 + 30)
	if w.reads != 5 {
		t.Errorf("%d times in 5 hours", w.reads)
	}
}

func forgetsPodsThatAreGone(t *testing.T) {
	w := newWorld(t)
	w.pass(90)
	if n := len(w.usages); n != 4 {
		t.Errorf("%d containers", n)
	}
	delete(w.pods, "web-0")
	w.pass(120)
	if n := len(w.usages); n != 3 {
		t.Errorf("%d containers after one is gone", n)
	}
	w.Drop()
	if n := len(w.usages); n != 0 {
		t.Errorf("%d containers after all were dropped", n)
	}
}

func podsThatHaveEndedOrBegunSayNothingOfAnHour(t *testing.T) {
	w := newWorld(t)
	w.run("web-9", "node-0", func(p *corev1.Pod) { p.Status.Phase, p.Labels["pod-template-hash"] = corev1.PodFailed, "2" })
	w.unmeasured["web-9/app"] = true
	w.pass(65)
	w.change("web-3", podtest.Annotated("original-memory.app", "2Gi", "applied-instance-type", "n4"), podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(second(w.now), "app")))
	if r := w.on("node-3"); !r.Whole {
		t.Errorf("resized after the hour: %+v", r)
	}
	w.pass(5)
	if n, _ := w.hours(); n != 1 {
		t.Errorf("%v hours count next to a pod of the version before that has failed", n)
	}
}

func goesOnAfterWeeksWithoutSamples(t *testing.T) {
	w := newWorld(t)
	w.pass(75)
	if n, _ := w.hours(); n != 1 {
		t.Fatalf("%v hours count", n)
	}
	w.now = w.now.Add(70 * 24 * time.Hour)
	for i := range 4 {
		name := fmt.Sprint("web-", i)
		delete(w.pods, name)
		w.run("other-"+name, fmt.Sprint("node-", i))
		w.cores["other-"+name] = 1
	}
	w.pass(180)
	if e := w.Evidence(); e.Workloads[web] != nil || w.reads < 3 {
		t.Errorf("%+v, after %d hours", e.Workloads[web], w.reads)
	}
}
