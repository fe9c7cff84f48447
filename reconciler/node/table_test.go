package node_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestTable(t *testing.T) {
	t.Run("keeps room for pods whose resizes are observed", keepsRoomForPodsWhoseResizesAreObserved)
	t.Run("keeps no room for a pod that is gone, moved or reverted", keepsNoRoomForAPodThatIsGoneMovedOrReverted)
}

// lowered is a pod whose cpu was lowered from 1 to 600m at second 10.
func lowered(name string, changes ...func(*corev1.Pod)) *pod.Pod {
	return pod.From(podtest.Pod(podtest.Amounts{"600m", "", "1Gi", ""}, append([]func(*corev1.Pod){
		podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi", "applied-instance-type", "n4", "applied-sizes", "app 0 cpu 1>600m memory 1Gi"),
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(contract.FieldManager, 10, contract.CPURequest), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedSizes, contract.OriginalPrefix+"cpu.app")),
		podtest.WithStatus(podtest.Amounts{"600m", "", "1Gi", ""}, podtest.Amounts{"600m", "", "1Gi", ""}),
		func(p *corev1.Pod) { p.Name, p.UID = name, types.UID(name) },
	}, changes...)...))
}

// proven returns when the last resize of a pod has proven itself.
func proven(of *pod.Pod) time.Time { return guard.Until(of, 5*time.Minute) }

// set records a pod as the cluster does.
func set(in *node.Table, of *pod.Pod, now time.Time) {
	in.Set(of, guard.Keeps(of, policy.LongestWindow, now))
}

func keepsRoomForPodsWhoseResizesAreObserved(t *testing.T) {
	r := node.NewTable()
	for _, name := range []string{"a", "b", "c"} {
		set(r, lowered(name), podtest.At(20))
	}
	for _, tc := range []struct {
		seconds int
		kept    int64
		until   int
	}{{309, 800, 310}, {310, 0, 0}, {309, 0, 0}} { // A resize that has proven itself stays proven.
		room, until := r.Kept(lowered("a"), proven, podtest.At(tc.seconds))
		want := time.Time{}
		if tc.until > 0 {
			want = podtest.At(tc.until)
		}
		if room != (node.Resources{CPU: tc.kept}) || !until.Equal(want) {
			t.Errorf("after %d seconds %v is kept until %v, want %dm until %v", tc.seconds, room, until, tc.kept, want)
		}
	}
}

func keepsNoRoomForAPodThatIsGoneMovedOrReverted(t *testing.T) {
	other := lowered("other")
	for _, tc := range []struct {
		name   string
		change func(r *node.Table)
	}{
		{"gone", func(r *node.Table) { r.Remove(lowered("a").UID) }},
		{"finished", func(r *node.Table) {
			set(r, lowered("a", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), podtest.At(20))
		}},
		{"on another node", func(r *node.Table) {
			set(r, lowered("a", func(p *corev1.Pod) { p.Spec.NodeName = "another" }), podtest.At(20))
		}},
		{"reverted", func(r *node.Table) {
			set(r, lowered("a", func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources = podtest.Amounts{"1", "", "1Gi", ""}.Requirements()
			}), podtest.At(20))
		}},
		{"seen long after its resize", func(r *node.Table) { set(r, lowered("a"), podtest.At(10).Add(policy.LongestWindow)) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := node.NewTable()
			set(r, lowered("a"), podtest.At(20))
			if room, _ := r.Kept(other, proven, podtest.At(20)); room.CPU != 400 {
				t.Fatalf("%v is kept", room)
			}
			tc.change(r)
			if room, _ := r.Kept(other, proven, podtest.At(20)); room != (node.Resources{}) {
				t.Errorf("%v is still kept", room)
			}
		})
	}
}
