package query

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// heldShop has pods in all stages of a pause of the namespace paused, and of a restore of the
// namespace restored.
func heldShop(t *testing.T) *Queries {
	pod := func(namespace, name, node string, changes ...func(*corev1.Pod)) *corev1.Pod {
		return podtest.Pod(podtest.Guaranteed, append([]func(*corev1.Pod){clustertest.Named(namespace, name, node)}, changes...)...)
	}
	small := func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources = podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}.Requirements()
	}
	r := filled(t, []*corev1.Pod{
		pod("paused", "new", "n4"),
		pod("paused", "sized", "n4", podtest.SizedForN4, podtest.AsResized, small),
		pod("restored", "never-sized", "n4"),
		pod("restored", "resized", "n4", podtest.SizedForN4, podtest.AsResized, small),
		pod("restored", "annotated", "n4", podtest.SizedForN4),
		pod("restored", "crowded", "full", podtest.SizedForN4, podtest.AsResized, small),
	}, []*corev1.Node{clustertest.Node("n4", "n4", "64"), clustertest.Node("full", "n4", "850m")})
	r.Cluster.Holds = clustertest.Holding(
		hold.Hold{Kind: hold.Pause, Scope: hold.Scope{Namespace: "paused"}},
		hold.Hold{Kind: hold.Pause, Scope: hold.Scope{Namespace: "restored"}},
		hold.Hold{Kind: hold.Restore, Scope: hold.Scope{Namespace: "restored"}},
	)
	return r
}

func TestProgress(t *testing.T) {
	t.Run("of a pause, counts pods that a restore still changes as pending", func(t *testing.T) {
		r := heldShop(t)
		for namespace, want := range map[string]Progress{
			"paused":   {Pods: 2, Done: 2},
			"restored": {Pods: 4, Done: 2, Pending: 2},
			"empty":    {},
		} {
			checkProgress(t, want, func() (Progress, error) {
				return r.PauseProgress(t.Context(), Selection{Namespace: namespace}, "")
			})
		}
	})
	t.Run("of a restore, counts what it still changes as pending, and what it cannot change as blocked", func(t *testing.T) {
		r := heldShop(t)
		checkProgress(t, Progress{Pods: 4, Done: 1, Pending: 2, Blocked: 1, Reasons: map[contract.Reason]int{contract.NodeCapacity: 1}}, func() (Progress, error) {
			return r.RestoreProgress(t.Context(), Selection{Namespace: "restored"}, "")
		})
	})
	t.Run("of a restore, counts pods that have ended as done", func(t *testing.T) {
		r := filled(t, []*corev1.Pod{podtest.Pod(podtest.Guaranteed, clustertest.Named("restored", "ended", "n4"), podtest.SizedForN4, podtest.AsResized, func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodSucceeded
		})}, []*corev1.Node{clustertest.Node("n4", "n4", "64")})
		r.Cluster.Holds = clustertest.Holding(hold.Hold{Kind: hold.Restore, Scope: hold.Scope{Namespace: "restored"}})
		checkProgress(t, Progress{Pods: 1, Done: 1}, func() (Progress, error) {
			return r.RestoreProgress(t.Context(), Selection{Namespace: "restored"}, "")
		})
	})
	t.Run("counts the pods of a workload, or one pod", func(t *testing.T) {
		r := heldShop(t)
		for name, of := range map[string]Selection{
			"another workload": {Namespace: "restored", Workload: workload.Workload{Kind: "Deployment", Name: "none"}},
			"another pod":      {Namespace: "restored", Pod: "none"},
		} {
			t.Log(name)
			checkProgress(t, Progress{}, func() (Progress, error) { return r.RestoreProgress(t.Context(), of, "") })
		}
		uid := r.Cluster.Pods("restored").Get("resized").UID
		for of, want := range map[types.UID]Progress{"": {Pods: 1, Pending: 1}, uid: {Pods: 1, Pending: 1}, "of a former pod": {}} {
			checkProgress(t, want, func() (Progress, error) {
				return r.RestoreProgress(t.Context(), Selection{Namespace: "restored", Pod: "resized"}, of)
			})
		}
	})
	t.Run("a freeze blocks a restore, but not a pause", func(t *testing.T) {
		r := heldShop(t)
		r.Cluster.Holds = clustertest.Frozen(hold.Freeze{Reason: "test"}, hold.Hold{Kind: hold.Restore, Scope: hold.Scope{Namespace: "restored"}}, hold.Hold{Kind: hold.Pause, Scope: hold.Scope{Namespace: "paused"}})
		checkProgress(t, Progress{Pods: 2, Done: 2}, func() (Progress, error) { return r.PauseProgress(t.Context(), Selection{Namespace: "paused"}, "") })
		checkProgress(t, Progress{Pods: 4, Done: 1, Blocked: 3, Reasons: map[contract.Reason]int{contract.Frozen: 3}}, func() (Progress, error) {
			return r.RestoreProgress(t.Context(), Selection{Namespace: "restored"}, "")
		})
	})
}

func checkProgress(t *testing.T, want Progress, ask func() (Progress, error)) {
	t.Helper()
	if want.Reasons == nil {
		want.Reasons = map[contract.Reason]int{}
	}
	got, err := ask()
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}
