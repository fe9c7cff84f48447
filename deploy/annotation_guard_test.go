package deploy

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAnnotationGuard tries everything that could resize pods, as a user who may write pods
// but not resize them.
func TestAnnotationGuard(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, AnnotationGuard(), []byte(bystanders))
	g.meddler = asMeddler(t, g.config)
	g.awaitPolicy(t, func(probe *corev1.Pod, n int) error {
		return patchPod(t.Context(), g.meddler, probe, fmt.Sprintf(`{"metadata":{"annotations":{"workload-resizer.io/probe":"%d"}}}`, n), "")
	})
	t.Run("guards annotations", g.annotations)
	t.Run("guards the record of who resized the pod", g.record)
	t.Run("guards merged entries of many writers", g.manyWriters)
	t.Run("guards what else the server relies on", func(t *testing.T) { testForgeries(t, g) })
	t.Run("passes type checking", func(t *testing.T) {
		policy, err := g.admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), "workload-resizer-annotation-guard", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if policy.Status.TypeChecking != nil && len(policy.Status.TypeChecking.ExpressionWarnings) > 0 {
			t.Errorf("%v", policy.Status.TypeChecking.ExpressionWarnings)
		}
	})
}

// refusedAnnotations and refusedRecord are parts of the policy's messages.
const refusedAnnotations, refusedRecord = "only workload-resizer may change annotations workload-resizer.io/…, except skip and eviction-rank", "record who resized the pod"

func expect(t *testing.T, what string, err error, refusal string) {
	t.Helper()
	switch {
	case refusal == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case refusal != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal) || !strings.Contains(err.Error(), "workload-resizer-annotation-guard")):
		t.Errorf("%s: got error %v, want a refusal that contains: %s", what, err, refusal)
	}
}
