package mover

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// crowded returns a world with a pod of web and one of api, each on a node without room, and a third node that has room for one
// of them.
func crowded(t *testing.T) *world {
	w := calm(t)
	w.full["n1"] = true
	third := w.nodes[1].DeepCopy()
	third.Name = "n2"
	w.nodes = append(w.nodes, third)
	for name, node := range map[string]string{"web-1": "n0", "api-1": "n1", "web-2": "n2", "api-2": "n2"} {
		p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", name, node))
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = name[:3], types.UID("rs-"+name[:3])
		ready(p, true)
		w.put(p)
	}
	w.resize()
	w.roomOf("n2", "3600m")
	w.lead()
	return w
}

// roomOf sets how much cpu a node has.
func (w *world) roomOf(node, cpu string) {
	for i, n := range w.nodes {
		if n.Name == node {
			w.nodes[i] = n.DeepCopy()
			w.nodes[i].Status.Allocatable[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
	}
	if err := w.cluster.Know(nil, w.nodes); err != nil {
		w.Fatal(err)
	}
}

// pending creates a pod of the workload that has lost one, which is not on a node yet, and returns it.
func (w *world) pending() *corev1.Pod {
	gone := "web"
	if w.objects["api-1"] == nil {
		gone = "api"
	}
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", gone+"-3", ""))
	p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = gone, types.UID("rs-"+gone)
	p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	w.put(p)
	return p
}

func TestStatefulSet(t *testing.T) {
	of := func(p *corev1.Pod) {
		p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "StatefulSet", "web", "rs-web"
	}
	for _, tc := range []struct {
		name    string
		ready   bool
		evicted int
		said    string
	}{
		{"a pod moves while the others are ready", true, 1, ""},
		{"a pod stays while another one would keep it from being created again", false, 0, "another pod of its StatefulSet is not ready"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := calm(t, of)
			p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, clustertest.Named("shop", "web-0", "n1"), of)
			ready(p, tc.ready)
			w.put(p)
			w.after(10 * time.Minute)
			w.expect(tc.evicted, tc.said)
		})
	}
}

func TestBudgets(t *testing.T) {
	none, some := workload.Limit{Name: "web"}, workload.Limit{Name: "all", Allowed: 1}
	for _, tc := range []struct {
		name    string
		budgets []workload.Limit
		ready   bool
		want    string
	}{
		{"none", nil, true, ""},
		{"one that allows a disruption", []workload.Limit{some}, true, ""},
		{"one that allows none", []workload.Limit{none}, true, "PodDisruptionBudget web allows no disruption"},
		{"one that allows none, and a pod that is not ready anyway", []workload.Limit{none}, false, ""},
		{"two", []workload.Limit{some, some}, false, "2 PodDisruptionBudgets select it, and the API server evicts no pod with more than one"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := refusedBy(tc.budgets, tc.ready); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestKills(t *testing.T) {
	for name, evicted := range map[string]int{"app": 1, "second": 0} {
		t.Run(name, func(t *testing.T) {
			// The kubelet has not set aside the memory that the spec of app requests.
			w := calm(t, on("web-1", func(p *corev1.Pod) {
				podtest.WithSecond(podtest.Amounts{"1", "", "1Gi", ""})(p)
				podtest.WithStatus(podtest.Amounts{"1", "", "512Mi", ""}, podtest.Amounts{"1", "", "512Mi", ""})(p)
				killed := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", FinishedAt: metav1.NewTime(podtest.Start)}}
				if name == "app" {
					p.Status.ContainerStatuses[0].LastTerminationState = killed
					return
				}
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: name, LastTerminationState: killed})
			}))
			w.after(time.Second)
			if w.evicted != evicted {
				t.Errorf("%d pods were evicted after a kill of container %s, want %d", w.evicted, name, evicted)
			}
		})
	}
}

// refusing makes a pod whose size its node refuses, by the clock of the node so many seconds after the start.
func refusing(message string, seconds int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		made, asked := podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.Amounts{"1250m", "1250m", "1Gi", "1Gi"}
		p.Spec.Containers[0].Resources, p.Status.QOSClass = asked.Requirements(), corev1.PodQOSGuaranteed
		podtest.WithStatus(made, made)(p)
		podtest.SizedForN4(p)
		podtest.Annotated("applied-instance-type", "n2d")(p)
		podtest.AsResized(p)
		podtest.Said(corev1.PodResizePending, corev1.PodReasonInfeasible, 5, seconds)(p)
		p.Status.Conditions[len(p.Status.Conditions)-1].Message = message
	}
}

const tooSmall = "Node didn't have enough capacity: cpu, requested: 2000, capacity: 1000"

func TestInfeasible(t *testing.T) {
	t.Run("the clock of a node does not count for what happened after a resize", func(t *testing.T) {
		w := calm(t, on("web-1", refusing(tooSmall, -3600)))
		w.roomOf("n0", "64")
		w.after(time.Minute)
		w.expect(0, "it may be evicted from ")
		w.after(10 * time.Minute)
		w.expect(1, "")
	})

	for _, tc := range []struct {
		name, message string
		evicted       int
		said          string
	}{
		{"a pod moves from a node that is too small", tooSmall, 1, ""},
		{"a pod stays that no node like its own resizes", `Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"`, 0, "its node resizes no pod like it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := calm(t, on("web-1", refusing(tc.message, 20)))
			w.roomOf("n0", "64")
			w.after(10 * time.Minute)
			w.after(10 * time.Minute)
			w.expect(tc.evicted, tc.said)
		})
	}
}

func TestRoom(t *testing.T) {
	expect := func(w *world, evicted int) {
		w.Helper()
		if w.evicted != evicted {
			w.Errorf("%d pods were evicted, want %d", w.evicted, evicted)
		}
	}
	for _, kills := range []bool{false, true} {
		t.Run(fmt.Sprintf("two pods do not move to the room of one, killed=%t", kills), func(t *testing.T) {
			w := crowded(t)
			w.after(10 * time.Minute)
			expect(w, 1)
			if kills {
				w.lead()
			}
			w.after(20 * time.Second)
			expect(w, 1)
			p := w.pending()
			w.after(20 * time.Second)
			expect(w, 1)
			p.Spec.NodeName = "n2"
			ready(p, true)
			w.put(p)
			w.after(time.Minute)
			expect(w, 1)
			w.roomOf("n2", "6")
			w.after(10 * time.Minute)
			expect(w, 2)
		})
	}
	t.Run("two pods move at the same time if there is room for both", func(t *testing.T) {
		w := crowded(t)
		w.roomOf("n2", "6")
		w.after(10 * time.Minute)
		expect(w, 2)
	})
}
