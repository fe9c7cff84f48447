package pod

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestAnswer(t *testing.T) {
	t.Run("an answer of a node counts if we wrote it on a pod that we resized", anAnswerOfANodeCountsIfWeWroteItOnAPodThatWeResized)
}

func anAnswerOfANodeCountsIfWeWroteItOnAPodThatWeResized(t *testing.T) {
	answer := Answer{podtest.At(20), "machine-1", "Resize is infeasible, and so on"}
	resized := podtest.ResizeOf(10, "app")
	wrote := podtest.Managed(contract.FieldManager, "", 20, contract.Infeasible)
	more := podtest.Managed(contract.FieldManager, "", 30, contract.AppliedAt)
	entries := func(all ...metav1.ManagedFieldsEntry) changes { return changes{podtest.ManagedBy(all...)} }
	for _, tc := range []struct {
		name    string
		changes changes
		said    string
		want    *Answer
	}{
		{"we did", entries(podtest.BareMade, resized, wrote), answer.String(), &answer},
		{"and wrote something else since", entries(podtest.BareMade, resized, wrote, more), answer.String(), &answer},
		{"or before", entries(podtest.BareMade, resized, more, wrote), answer.String(), &answer},
		{"another wrote it", entries(podtest.BareMade, resized, more, podtest.Managed("they", "", 20, contract.Infeasible)), answer.String(), nil},
		{"another resized the pod", entries(podtest.BareMade, podtest.ResizeBy("they", 10, contract.CPURequest), wrote), answer.String(), nil},
		{"nobody resized the pod", entries(podtest.BareMade, wrote), answer.String(), nil},
		{"the pod is on no node", append(entries(podtest.BareMade, resized, wrote), func(p *corev1.Pod) { p.Spec.NodeName = "" }), answer.String(), nil},
		{"it does not say who", entries(podtest.BareMade, resized, wrote), "2026-11-21T00:00:20Z machine-1", nil},
		{"it does not say when", entries(podtest.BareMade, resized, wrote), "yesterday machine-1 no", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := From(podtest.Pod(guaranteed, append(tc.changes, podtest.Annotated("infeasible", tc.said))...))
			if diff := cmp.Diff(tc.want, p.Answer(), cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
				t.Error(diff)
			}
			if !p.Answers() {
				t.Error("the pod says nothing")
			}
		})
	}
}
