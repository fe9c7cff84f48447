package plan

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestFractions(t *testing.T) {
	const bytes = "1181116007"
	recorded := podtest.Annotated("original-cpu.app", "1", "original-memory.app", bytes, "original-memory-limit.app", bytes, "applied-instance-type", "n4")
	for name, of := range map[string]struct {
		pod     *corev1.Pod
		restore bool
		want    resourcesPatch
	}{
		"a change to cpu sets memory in whole bytes": {
			pod:  podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", "1.1Gi"}, asMadeWith),
			want: resourcesPatch{amountsPatch{"800m", bytes}, amountsPatch{"", bytes}},
		},
		"only what has a fraction": {
			pod:  podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", "2Gi"}, asMadeWith),
			want: resourcesPatch{amountsPatch{"800m", bytes}, amountsPatch{}},
		},
		"a restore sets it, too": {
			pod:     podtest.Pod(podtest.Amounts{"800m", "", "1.1Gi", "1.1Gi"}, podtest.AsResized, recorded),
			restore: true,
			want:    resourcesPatch{amountsPatch{"1", bytes}, amountsPatch{"", bytes}},
		},
		"not if another actor set it": {
			pod: podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", "1.1Gi"}, asMadeWith, func(p *corev1.Pod) {
				p.ManagedFields = append(p.ManagedFields, podtest.ResizeBy("kubectl", 9, contract.MemoryRequest, contract.MemoryLimit))
			}),
			want: resourcesPatch{amountsPatch{"800m", ""}, amountsPatch{}},
		},
	} {
		s := snapshotOf(t, of.pod, podtest.Node("n4"))
		s.Restore = of.restore
		p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
		var got podPatch
		if err := json.Unmarshal(p.Patch(Write{Step: StepResize}, ""), &got); err != nil {
			t.Fatal(err)
		}
		if got.Spec == nil || len(got.Spec.Containers) != 1 || got.Spec.Containers[0].Resources != of.want {
			t.Errorf("%s: %v because of %v patches %+v, want %+v", name, p.Decision, p.Reasons, got.Spec, of.want)
		}
	}
	aligned := podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", "1.1Gi"}, asMadeWith)
	if p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, aligned, podtest.Node("n2d"))); p.Decision != Align {
		t.Errorf("a pod that needs no resize: %v because of %v", p.Decision, p.Reasons)
	}
}
