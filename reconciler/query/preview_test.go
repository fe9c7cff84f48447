package query

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func previewed(t testing.TB, r *Queries, of Selection, options PreviewOptions) []*plan.Plan {
	t.Helper()
	total, plans, err := r.PreviewAll(t.Context(), of, options)
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Collect(plans)
	if len(all) != total {
		t.Errorf("%d plans, total %d", len(all), total)
	}
	return all
}

func namesOf(plans []*plan.Plan) string {
	var names []string
	for _, p := range plans {
		names = append(names, p.Pod.String())
	}
	return strings.Join(names, " ")
}

func TestPreview(t *testing.T) {
	t.Run("selects pods that match all fields", selectsPodsThatMatchAllFields)
	t.Run("asks about the namespaces of an index before it filters pods", asksAboutTheNamespacesOfAnIndexBeforeItFiltersPods)
	t.Run("requires the caches", requiresTheCaches)
	t.Run("plans with another table", plansWithAnotherTable)
	t.Run("uses only the ratio of another node type", usesOnlyTheRatioOfAnotherNodeType)
	t.Run("plans an imagined pod from its spec", plansAnImaginedPodFromItsSpec)
	t.Run("plans without the holds and the freeze", plansWithoutTheHoldsAndTheFreeze)
	t.Run("says of pods that would be resized now that they wait", saysThatPodsWait)
}

func selectsPodsThatMatchAllFields(t *testing.T) {
	r := shop(t)
	web, err := labels.Parse("app=web")
	do(t, err)
	for _, tc := range []struct {
		name string
		of   Selection
		want string
	}{
		{"no field: all pods, by namespace and name", Selection{}, "bank/db bank/pending shop/db shop/web-1-x shop/web-1-y"},
		{"a namespace", Selection{Namespace: "bank"}, "bank/db bank/pending"},
		{"a missing namespace", Selection{Namespace: "none"}, ""},
		{"a pod of a namespace", Selection{Namespace: "shop", Pod: "db"}, "shop/db"},
		{"a pod of any namespace", Selection{Pod: "db"}, "bank/db shop/db"},
		{"a missing pod", Selection{Namespace: "shop", Pod: "none"}, ""},
		{"a controller", Selection{Workload: workload.Workload{Kind: "ReplicaSet", Name: "web-1"}}, "shop/web-1-x shop/web-1-y"},
		{"the owner of a controller", Selection{Workload: workload.Workload{Kind: "Deployment", Name: "web"}}, "shop/web-1-x shop/web-1-y"},
		{"a workload of another kind", Selection{Workload: workload.Workload{Kind: "StatefulSet", Name: "web"}}, ""},
		{"labels", Selection{Labels: web}, "shop/web-1-x shop/web-1-y"},
		{"a node", Selection{Node: "b"}, "bank/db shop/db shop/web-1-y"},
		{"a node and a namespace", Selection{Node: "b", Namespace: "bank"}, "bank/db"},
		{"a missing node", Selection{Node: "c"}, ""},
		{"a pod on another node", Selection{Namespace: "shop", Pod: "web-1-x", Node: "b"}, ""},
		{"a node type", Selection{NodeType: "n2d"}, "shop/web-1-x"},
		{"labels and a node type", Selection{Labels: web, NodeType: "n4"}, "shop/web-1-y"},
		{"visible namespaces", Selection{Visible: only("shop")}, "shop/db shop/web-1-x shop/web-1-y"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := namesOf(previewed(t, r, tc.of, PreviewOptions{})); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// The requests of a query must not depend on pods that the caller may not see.
func asksAboutTheNamespacesOfAnIndexBeforeItFiltersPods(t *testing.T) {
	r := shop(t)
	for _, tc := range []struct {
		name string
		of   Selection
		want []string
	}{
		{"all pods", Selection{}, []string{"bank", "shop"}},
		{"labels of no pod", Selection{Labels: labels.SelectorFromSet(labels.Set{"app": "none"})}, []string{"bank", "shop"}},
		{"a workload that does not exist", Selection{Workload: workload.Workload{Kind: "Deployment", Name: "none"}}, []string{"bank", "shop"}},
		{"a node type that does not exist", Selection{NodeType: "none"}, []string{"bank", "shop"}},
		{"a pod that exists once", Selection{Pod: "pending"}, []string{"bank", "shop"}},
		{"a node", Selection{Node: "a"}, []string{"shop"}},
		{"a node and a pod that is not on it", Selection{Node: "a", Pod: "pending"}, []string{"shop"}},
		{"a namespace and a node without pods of it", Selection{Namespace: "bank", Node: "a"}, []string{"bank"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var asked []string
			tc.of.Visible = func(namespaces ...string) ([]string, error) {
				asked = append(asked, namespaces...)
				return nil, nil
			}
			if got := previewed(t, r, tc.of, PreviewOptions{}); len(got) > 0 || !slices.Equal(asked, tc.want) {
				t.Errorf("%d pods, and asked about %q, want %q", len(got), asked, tc.want)
			}
		})
	}
	unknown := errors.New("not known")
	if _, _, err := r.PreviewAll(t.Context(), Selection{Visible: func(...string) ([]string, error) { return nil, unknown }}, PreviewOptions{}); !errors.Is(err, unknown) {
		t.Errorf("got %v", err)
	}
}

func requiresTheCaches(t *testing.T) {
	r := about(clustertest.Unread(t))
	var notReady *cluster.NotReadyError
	if _, _, err := r.PreviewAll(t.Context(), Selection{}, PreviewOptions{}); !errors.As(err, &notReady) || notReady.What != cluster.CacheNotReady {
		t.Errorf("got %v", err)
	}
	if _, err := r.Impact(t.Context(), podtest.Table(t)); !errors.As(err, &notReady) || notReady.What != cluster.CacheNotReady {
		t.Errorf("got %v", err)
	}
}

func plansWithAnotherTable(t *testing.T) {
	r := shop(t)
	other := clustertest.Published()
	other.Ratios["n4"] = ratios.Ratio{CPUPerf: 2, MemoryPerf: 1}
	what, err := ratios.Merge([]*ratios.Layer{other})
	do(t, err)
	for _, tc := range []struct {
		table    *ratios.Table
		decision plan.Decision
		cpu      int64
	}{{nil, plan.Resize, 800}, {what, plan.Resize, 500}, {clustertest.WithN4(t, 125), plan.Skip, 1000}} {
		p, err := r.Preview(t.Context(), types.NamespacedName{Namespace: "shop", Name: "db"}, PreviewOptions{Table: tc.table})
		do(t, err)
		if p.Decision != tc.decision || p.Containers[0].Desired.CPU.Request != tc.cpu {
			t.Errorf("%v to %d, want %d", p.Decision, p.Containers[0].Desired.CPU.Request, tc.cpu)
		}
	}
}

func usesOnlyTheRatioOfAnotherNodeType(t *testing.T) {
	more := podtest.Amounts{"1", "", "1Gi", ""}
	infeasible := func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Reason: corev1.PodReasonInfeasible, Status: corev1.ConditionTrue}}
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: contract.FieldManager, Subresource: contract.ResizeSubresource}}
		p.Annotations = map[string]string{contract.CPURequest.Key("app"): "1", contract.MemoryRequest.Key("app"): "1Gi", contract.AppliedInstanceType: "n4"}
	}
	full, pressed := clustertest.Node("full", "n4", "1"), clustertest.Node("pressed", "n4", "8")
	pressed.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue}}
	r := filled(t, []*corev1.Pod{
		podtest.Pod(more, clustertest.Named("a", "full", "full")), podtest.Pod(more, clustertest.Named("a", "pressed", "pressed")),
		podtest.Pod(more, clustertest.Named("a", "refused", "pressed"), infeasible), podtest.Pod(more, clustertest.Named("a", "lost", "nowhere")), podtest.Pod(more, clustertest.Named("a", "pending", "")),
	}, []*corev1.Node{full, pressed})
	slow := clustertest.Published()
	slow.Ratios["slow"] = ratios.Ratio{CPUPerf: 0.5, MemoryPerf: 1}
	what, err := ratios.Merge([]*ratios.Layer{slow})
	do(t, err)
	r.Cluster.Serve(nil, func(name types.NamespacedName, _ types.UID, _ time.Time) *plan.Refusal {
		if name.Name != "refused" {
			return nil
		}
		return &plan.Refusal{Reason: plan.Reason{Code: contract.ResizeInfeasible}, Wanted: &plan.Asked{}}
	})
	for _, tc := range []struct {
		pod, nodeType string
		decision      plan.Decision
		code          contract.Reason
	}{
		{"full", "slow", plan.Resize, ""},
		{"pressed", "slow", plan.Resize, ""},
		{"refused", "slow", plan.Resize, ""},
		{"lost", "slow", plan.Resize, ""},
		{"lost", "", plan.Skip, contract.NodeNotFound},
		{"pending", "slow", plan.Skip, contract.NotScheduled},
		{"full", "n2d", plan.Align, contract.AlreadyAligned},
		{"full", "unknown", plan.Skip, contract.UnknownNodeType},
	} {
		t.Run(tc.pod+" on "+tc.nodeType, func(t *testing.T) {
			planned, err := r.Preview(t.Context(), types.NamespacedName{Namespace: "a", Name: tc.pod}, PreviewOptions{Table: what, NodeType: tc.nodeType})
			do(t, err)
			var code contract.Reason
			if len(planned.Reasons) > 0 {
				code = planned.Reasons[0].Code
			}
			if planned.Decision != tc.decision || code != tc.code || planned.NodeType != tc.nodeType || planned.NodeTypeLabel != "" {
				t.Errorf("%v %v on %q (label %q), want %v %s", planned.Decision, planned.Reasons, planned.NodeType, planned.NodeTypeLabel, tc.decision, tc.code)
			}
			if want := int64(2000); tc.decision == plan.Resize && planned.Containers[0].Desired.CPU.Request != want {
				t.Errorf("cpu %d, want %d", planned.Containers[0].Desired.CPU.Request, want)
			}
		})
	}
}

func plansAnImaginedPodFromItsSpec(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "2", "1Gi", "1Gi"}, clustertest.Named("a", "b", ""), podtest.Annotated("original-cpu.app", "4", "applied-instance-type", "n4"))
	p.Status = corev1.PodStatus{}
	planner := &plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}
	planned := planner.Imagine(pod.Imagined(p), "n4", podtest.Table(t))
	if planned.Decision != plan.Resize || planned.Node != "" || planned.NodeType != "n4" || planned.QOSClass != corev1.PodQOSBurstable || planned.Containers[0].Desired != (podtest.Amounts{"800m", "1600m", "1Gi", "1Gi"}).Container() {
		t.Errorf("%+v", planned)
	}
	if p.Spec.NodeName != "" || p.Status.Phase != "" || len(p.ManagedFields) > 0 {
		t.Errorf("the pod was changed: %+v", p)
	}
}

func plansWithoutTheHoldsAndTheFreeze(t *testing.T) {
	for name, holds := range map[string]cluster.Holds{
		"paused":   clustertest.Holding(hold.Hold{Kind: hold.Pause}),
		"restored": clustertest.Holding(hold.Hold{Kind: hold.Restore}),
		"frozen":   clustertest.Frozen(hold.Freeze{}, hold.Hold{Kind: hold.Pause}, hold.Hold{Kind: hold.Restore}),
	} {
		t.Run(name, func(t *testing.T) {
			r := shop(t)
			plain := previewed(t, r, Selection{}, PreviewOptions{})
			r.Cluster.Holds = holds
			for i, held := range previewed(t, r, Selection{}, PreviewOptions{}) {
				if held.Decision == plan.Resize {
					t.Errorf("%s is resized", held.Pod)
				}
				without := previewed(t, r, Selection{}, PreviewOptions{WithoutHolds: true})[i]
				if without.Decision != plain[i].Decision || !sameSizes(without, plain[i]) {
					t.Errorf("%s: %s, want %s", without.Pod, without.Decision, plain[i].Decision)
				}
			}
			if restored := previewed(t, r, Selection{Namespace: "shop"}, PreviewOptions{WithoutHolds: true, Restore: true}); restored[0].Kind != plan.Restore && restored[0].Decision != plan.Skip {
				t.Errorf("a restore that was requested is not planned: %s", restored[0].Decision)
			}
		})
	}
}

func saysThatPodsWait(t *testing.T) {
	r := shop(t)
	r.Waits = func(p *plan.Plan) string { return "for " + p.Pod.Name }
	r.Eviction = func(p *plan.Plan) string { return "moves: " + p.Pod.Name }
	table, err := ratios.Merge([]*ratios.Layer{clustertest.Published()})
	do(t, err)
	for _, tc := range []struct {
		name    string
		options PreviewOptions
		waits   bool
	}{
		{"the loop's own plan", PreviewOptions{}, true},
		{"a restore that nobody asked for", PreviewOptions{Restore: true}, false},
		{"other ratios", PreviewOptions{Table: table}, false},
		{"another node type", PreviewOptions{NodeType: "n4"}, false},
		{"no holds", PreviewOptions{WithoutHolds: true}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resized := 0
			for _, p := range previewed(t, r, Selection{}, tc.options) {
				waits := slices.Contains(p.Reasons, plan.Reason{Code: contract.WaitingForTurn, Message: "for " + p.Pod.Name})
				if waits != (tc.waits && p.Decision == plan.Resize) {
					t.Errorf("%s: %s, %+v", p.Pod, p.Decision, p.Reasons)
				}
				if p.Decision == plan.Resize {
					resized++
				}
				if moves := p.Eviction == "moves: "+p.Pod.Name; moves != tc.waits {
					t.Errorf("%s: %q", p.Pod, p.Eviction)
				}
			}
			if resized == 0 && tc.name != "a restore that nobody asked for" {
				t.Error("no pod would be resized")
			}
		})
	}
}
