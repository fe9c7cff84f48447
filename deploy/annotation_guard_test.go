package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestAnnotationGuard tries everything that could resize pods, as a user who may write pods
// but not resize them.
func TestAnnotationGuard(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "")
	config := cluster.Config()
	if err := localcluster.Apply(t.Context(), config, append(Base(), AnnotationGuard())...); err != nil {
		t.Fatal(err)
	}
	g := &guarded{admin: kubernetes.NewForConfigOrDie(config), server: as(t, config, Namespace, ServiceAccount), meddler: asMeddler(t, config)}
	room := corev1.ResourceList{"cpu": resource.MustParse("1k"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("1k")}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}, Status: corev1.NodeStatus{Allocatable: room, Capacity: room}}
	if _, err := g.admin.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	probe := g.pod(t, "node")
	tries := 0
	localcluster.Eventually(t, "the policy to be in effect", func() error {
		tries++ // The policy refuses only changes.
		err := patchPod(t.Context(), g.meddler, probe, fmt.Sprintf(`{"metadata":{"annotations":{"workload-resizer.io/probe":"%d"}}}`, tries), "")
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("not in effect: %w", cmp.Or(err, errors.New("everything is allowed")))
		}
		return nil
	})
	t.Run("guards annotations", g.annotations)
	t.Run("guards the record of who resized the pod", g.record)
	t.Run("guards merged entries of many writers", g.manyWriters)
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
const refusedAnnotations, refusedRecord = "only workload-resizer may change annotations workload-resizer.io/…, except workload-resizer.io/skip", "record who resized the pod"

func expect(t *testing.T, what string, err error, refusal string) {
	t.Helper()
	switch {
	case refusal == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case refusal != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), refusal) || !strings.Contains(err.Error(), "workload-resizer-annotation-guard")):
		t.Errorf("%s: got error %v, want a refusal that contains: %s", what, err, refusal)
	}
}
