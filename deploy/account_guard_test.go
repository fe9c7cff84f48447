package deploy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// TestAccountGuard tries with the server's own account what a stolen token could do to pods.
func TestAccountGuard(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, AccountGuard())
	g.awaitPolicy(t, func(probe *corev1.Pod, n int) error {
		return patchPod(t.Context(), g.server, probe, fmt.Sprintf(`{"metadata":{"labels":{"probe":"%d"}}}`, n), "")
	})
	labeled := g.pod(t, "node")
	if err := patchPod(t.Context(), g.admin, labeled, `{"metadata":{"labels":{"app":"web"},"annotations":{"team":"shop"},"finalizers":["example.com/keep"],`+
		`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"1"}]}}`, ""); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, body, subresource, refusal string }{
		{"writes its annotations", `{"metadata":{"annotations":{"workload-resizer.io/applied-instance-type":"n4"}}}`, "", ""},
		{"removes its annotations", `{"metadata":{"annotations":{"workload-resizer.io/applied-instance-type":null}}}`, "", ""},
		{"resizes", `{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"800m"}}}]}}`, "resize", ""},
		{"does not change an image", `{"spec":{"containers":[{"name":"app","image":"evil"}]}}`, "", "the spec of a pod"},
		{"does not set a deadline", `{"spec":{"activeDeadlineSeconds":1}}`, "", "the spec of a pod"},
		{"does not tolerate more", `{"spec":{"tolerations":[{"key":"k","operator":"Exists"}]}}`, "", "the spec of a pod"},
		{"does not add a label", `{"metadata":{"labels":{"evil":"yes"}}}`, "", "labels, owners or finalizers"},
		{"does not remove a label", `{"metadata":{"labels":{"app":null}}}`, "", "labels, owners or finalizers"},
		{"does not change owners", `{"metadata":{"ownerReferences":null}}`, "", "labels, owners or finalizers"},
		{"does not remove finalizers", `{"metadata":{"finalizers":null}}`, "", "labels, owners or finalizers"},
		{"does not add an annotation of others", `{"metadata":{"annotations":{"evil":"yes"}}}`, "", "annotations of others"},
		{"does not change an annotation of others", `{"metadata":{"annotations":{"team":"evil"}}}`, "", "annotations of others"},
		{"does not remove an annotation of others", `{"metadata":{"annotations":{"team":null}}}`, "", "annotations of others"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var subresources []string
			body := tc.body
			if tc.subresource != "" {
				subresources = []string{tc.subresource}
			}
			err := patchStrategically(t.Context(), g.server, labeled, body, subresources...)
			switch {
			case tc.refusal == "" && err != nil:
				t.Error(err)
			case tc.refusal != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.refusal)):
				t.Errorf("got %v, want it refused because of %s", err, tc.refusal)
			}
		})
	}
	t.Run("others are not affected", func(t *testing.T) {
		if err := patchPod(t.Context(), g.admin, labeled, `{"metadata":{"labels":{"app":"shop"},"finalizers":null}}`, ""); err != nil {
			t.Error(err)
		}
	})
	t.Run("the policy type-checks", func(t *testing.T) {
		policy, err := g.admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), "workload-resizer-account-guard", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if policy.Status.TypeChecking != nil && len(policy.Status.TypeChecking.ExpressionWarnings) > 0 {
			t.Errorf("%v", policy.Status.TypeChecking.ExpressionWarnings)
		}
	})
}

// patchStrategically patches a pod with lists merged by their keys, as the client.
func patchStrategically(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, body string, subresources ...string) error {
	_, err := client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{}, subresources...)
	return err
}
