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
	t.Run("counts an answer that we wrote to a pod that we resized", countsAnAnswerThatWeWroteToAPodThatWeResized)
}

func countsAnAnswerThatWeWroteToAPodThatWeResized(t *testing.T) {
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
		{"counts our answer", entries(podtest.BareMade, resized, wrote), answer.String(), &answer},
		{"counts our answer after a later write", entries(podtest.BareMade, resized, wrote, more), answer.String(), &answer},
		{"counts our answer after an earlier write", entries(podtest.BareMade, resized, more, wrote), answer.String(), &answer},
		{"ignores an answer that another manager wrote", entries(podtest.BareMade, resized, more, podtest.Managed("they", "", 20, contract.Infeasible)), answer.String(), nil},
		{"ignores our answer on a pod that another manager resized", entries(podtest.BareMade, podtest.ResizeBy("they", 10, contract.CPURequest), wrote), answer.String(), nil},
		{"ignores our answer on a pod that was not resized", entries(podtest.BareMade, wrote), answer.String(), nil},
		{"ignores an answer on a pod without a node", append(entries(podtest.BareMade, resized, wrote), func(p *corev1.Pod) { p.Spec.NodeName = "" }), answer.String(), nil},
		{"ignores an answer without a message", entries(podtest.BareMade, resized, wrote), "2026-11-21T00:00:20Z machine-1", nil},
		{"ignores an answer without a valid time", entries(podtest.BareMade, resized, wrote), "yesterday machine-1 no", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := From(podtest.Pod(guaranteed, append(tc.changes, podtest.Annotated("infeasible", tc.said))...))
			if diff := cmp.Diff(tc.want, p.Answer(), cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
				t.Error(diff)
			}
			if !p.Answers() {
				t.Error("the pod records no answer")
			}
		})
	}
}
