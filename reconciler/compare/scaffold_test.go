package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

// began is an hour after which tests begin, and first is its number.
var (
	began = podtest.Start
	first = hourOf(began)
)

var web = KeyOf("shop", "Deployment", "web")

// world is a cluster in which pods of one workload use CPU.
type world struct {
	*testing.T
	*Comparisons
	now    time.Time
	pods   map[string]*pod.Pod
	specs  map[string]*corev1.Pod
	places map[string]Place
	// cores is how much each container of a pod uses, and throttled how much its first one is throttled.
	cores, throttled map[string]float64
	// unmeasured are the pods and containers without samples.
	unmeasured map[string]bool
	reads      int
	// work is what is known of the work of the pods.
	work map[string]Work
	// growth is by which factor usage grows in each hour: hours of the upper half of load count.
	growth float64
}

// newWorld returns a cluster with two pods on n2d, which use a core each, and two on n4, which use 0.8. It begins an hour before began.
func newWorld(t *testing.T) *world {
	w := &world{
		T: t, Comparisons: New(time.Minute), now: began.Add(-time.Hour), pods: map[string]*pod.Pod{}, specs: map[string]*corev1.Pod{}, places: map[string]Place{},
		cores: map[string]float64{}, throttled: map[string]float64{}, unmeasured: map[string]bool{},
		growth: 1,
	}
	for i := range 4 {
		node, kind := fmt.Sprint("node-", i), [2]string{"n2d", "n4"}[i/2]
		w.places[node] = Place{NodeType: kind, Zone: "a", CPUModel: "milan", CPUs: 8}
		w.run(fmt.Sprint("web-", i), node)
		w.cores[fmt.Sprint("web-", i)] = [2]float64{1, 0.8}[i/2]
	}
	return w
}

// run runs a pod that has been ready for a day, with changes.
func (w *world) run(name, node string, changes ...func(*corev1.Pod)) {
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, func(p *corev1.Pod) {
		p.Name, p.UID, p.Spec.NodeName = name, types.UID(name), node
		p.Labels = map[string]string{"pod-template-hash": "1"}
		at := metav1.NewTime(began.Add(-24 * time.Hour))
		p.CreationTimestamp, p.Status.StartTime = at, &at
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: at}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}}}}
	})
	for _, change := range changes {
		change(p)
	}
	w.specs[name], w.pods[name] = p, pod.From(p)
}

// change changes a pod.
func (w *world) change(name string, changes ...func(*corev1.Pod)) {
	p := w.specs[name].DeepCopy()
	for _, change := range changes {
		change(p)
	}
	w.specs[name], w.pods[name] = p, pod.From(p)
}

// created makes a pod have been created, started and become ready at a time.
func created(at time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		stamp := metav1.NewTime(at)
		p.CreationTimestamp, p.Status.StartTime, p.Status.Conditions[0].LastTransitionTime = stamp, &stamp, stamp
		p.Status.ContainerStatuses[0].State.Running.StartedAt = stamp
	}
}

// pass lets minutes pass, in each of which all pods are measured, and hours are folded.
func (w *world) pass(minutes int) {
	w.Helper()
	for range minutes {
		w.now = w.now.Add(time.Minute)
		w.measure(w.now)
		w.fold()
	}
}

// measure passes the samples of the minute before a time.
func (w *world) measure(at time.Time) {
	grown := math.Pow(w.growth, float64(hourOf(at.Add(-1))-first+1))
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		of := w.pods[name]
		for i := range of.Containers {
			if container := of.Containers[i].Name(); !w.unmeasured[name+"/"+container] {
				w.Take(of, container, &Sample{At: at, Length: time.Minute, Cores: w.cores[name] * grown, Throttled: w.throttled[name] * float64(1-min(i, 1))}, w.now)
			}
		}
	}
}

func (w *world) fold() { w.Fold(w.now, w.cluster) }

func (w *world) cluster() Cluster {
	w.reads++
	return Cluster{
		WorkOf: func(of *pod.Pod, hour int64) Work {
			if w.work == nil || hour != w.open {
				return Work{}
			}
			return w.work[of.Name]
		},
		Pods: slices.Collect(maps.Values(w.pods)), WorkloadOf: func(p *pod.Pod) (evidence.Key, bool) { return web, p.Name[:3] == "web" },
		PlaceOf: func(node string) (Place, bool) {
			place, known := w.places[node]
			return place, known
		},
	}
}

// replicas returns what the pods did in the open hour, by their nodes.
func (w *world) replicas() map[evidence.Key]evidence.Replica {
	w.Helper()
	found := map[evidence.Key]evidence.Replica{}
	in := w.cluster()
	w.each(in, w.nodesIn(in, w.open), w.open, func(h evidence.Hour) {
		if h.Workload != web || h.At != w.open {
			w.Errorf("workload %v in hour %d", h.Workload, h.At)
		}
		for _, r := range h.Replicas {
			found[r.Node] = r
		}
	})
	return found
}

// on returns what the pod on a node did in the open hour.
func (w *world) on(node string) evidence.Replica { return w.replicas()[evidence.KeyOf(node)] }

// hours returns how many hours count for the difference between n2d and n4, and its mean.
func (w *world) hours() (n, mean float64) {
	e := w.Evidence()
	if of := e.Workloads[web]; of != nil && len(of.Cells) == 1 {
		return of.Cells[0].Like.N + of.Cells[0].Unlike.N, of.Cells[0].Like.Mean
	}
	return 0, 0
}

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }
