package plan

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
)

// The annotations of a pod that was sized at its creation may be gone or wrong, since its record proves the originals. The first
// resize ends that, so they are written before.
func TestOriginalsBeforeTheFirstResize(t *testing.T) {
	keys, _ := (*seal.Ring)(nil).Renewed(podtest.Start.Add(-time.Hour))
	created := func(changes ...func(*corev1.Pod)) *pod.Pod {
		return pod.FromProven(podtest.Pod(podtest.Amounts{"800m", "1600m", "512Mi", "1Gi"}, append([]func(*corev1.Pod){podtest.AsCreated, func(p *corev1.Pod) {
			p.CreationTimestamp, p.OwnerReferences[0].UID = metav1.NewTime(podtest.Start), "owner"
			text, err := keys.Sign(seal.SubjectOf(&p.ObjectMeta, p.Namespace), seal.Creation{NodeType: "n4", At: podtest.Start, Sizes: "app 0 cpu 1/2>800m/1600m memory 1Gi/2Gi>512Mi/1Gi"})
			if err != nil {
				t.Fatal(err)
			}
			p.Annotations = map[string]string{contract.CreatedSizes: text, contract.CPURequest.Key("app"): "50m"}
		}}, changes...)...), keys)
	}
	killed := func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "app", RestartCount: 1, Resources: &p.Spec.Containers[0].Resources, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(podtest.At(40))}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", StartedAt: metav1.NewTime(podtest.At(10)), FinishedAt: metav1.NewTime(podtest.At(30))}},
		}}
	}
	for _, tc := range []struct {
		name    string
		of      *pod.Pod
		restore bool
		kind    Kind
	}{
		{"a restore", created(), true, Restore},
		{"a revert", created(killed), false, Revert},
	} {
		t.Run(tc.name, func(t *testing.T) {
			planner := &Planner{OwnerKinds: DefaultOwnerKinds}
			p := planner.Plan(&Snapshot{Pod: tc.of, Table: podtest.Table(t), Around: safety.Surroundings{Room: node.Room{Node: podtest.Node("n4")}}, Restore: tc.restore, Now: podtest.At(60)})
			actions := p.Actions()
			if p.Kind != tc.kind || len(actions) < 2 || actions[0].Step != StepOriginals {
				t.Fatalf("kind %d with actions %v, because %v", p.Kind, actions, p.Reasons)
			}
			for _, which := range contract.Originals {
				want := map[contract.Original]string{contract.CPURequest: "1", contract.CPULimit: "2", contract.MemoryRequest: "1Gi", contract.MemoryLimit: "2Gi"}[which]
				if got := actions[0].Annotations[which.Key("app")]; got == nil || *got != want {
					t.Errorf("%s: got %v, want %s", which.Key("app"), got, want)
				}
			}
		})
	}
}
