package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/taint"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// busy is a node on which the server's own account tries to change taints, next to the component startup-taint.
type busy struct {
	admin, server kubernetes.Interface
	name          string
}

// testOverloadedTaint tries what the server needs, and what a stolen token could do to nodes.
func testOverloadedTaint(t *testing.T, config *rest.Config, admin kubernetes.Interface) {
	token, err := admin.CoreV1().ServiceAccounts(Namespace).CreateToken(t.Context(), ServiceAccount, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	as := rest.AnonymousClientConfig(config)
	as.BearerToken = token.Status.Token
	const autoscalers = "status-taint.cluster-autoscaler.kubernetes.io/workload-resizer"
	b := &busy{admin, kubernetes.NewForConfigOrDie(as), "busy"}
	if _, err := admin.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: b.name, Labels: map[string]string{"keep": "this"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "dedicated", Value: "infra", Effect: corev1.TaintEffectNoSchedule}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Run("as the server does it", b.asTheServerDoesIt)
	t.Run("and nothing else", b.andNothingElse)
	t.Run("also with the key that cluster-autoscaler leaves out", func(t *testing.T) {
		if err := b.add(t.Context(), oursWith(autoscalers, corev1.TaintEffectNoSchedule)); err != nil {
			t.Error(err)
		}
	})
	t.Run("another key needs a right of its own", b.anotherKeyNeedsARight)
	t.Run("without the right, the startup taint's policy does not allow it either", b.withoutTheRight)
	t.Run("the policy type-checks", func(t *testing.T) {
		policy, err := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), "workload-resizer-overloaded-taint", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if policy.Status.TypeChecking != nil && len(policy.Status.TypeChecking.ExpressionWarnings) > 0 {
			t.Errorf("%v", policy.Status.TypeChecking.ExpressionWarnings)
		}
	})
}

// oursWith returns the taint with a key and an effect.
func oursWith(key string, effect corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: key, Value: contract.OverloadMark, Effect: effect}
}

// patch patches the node with what change returns for its taints. Controllers taint it, too, since it has no kubelet, so that
// the patch is tried again if the taints have changed meanwhile.
func (b *busy) patch(ctx context.Context, change func(before []corev1.Taint) (body string)) error {
	for {
		before, err := b.admin.CoreV1().Nodes().Get(ctx, b.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		_, err = b.server.CoreV1().Nodes().Patch(ctx, b.name, types.MergePatchType, []byte(change(before.Spec.Taints)), metav1.PatchOptions{})
		after, getErr := b.admin.CoreV1().Nodes().Get(ctx, b.name, metav1.GetOptions{})
		if err == nil || getErr != nil || after.ResourceVersion == before.ResourceVersion {
			return err
		}
	}
}

// body returns a patch that sets taints.
func body(taints []corev1.Taint) string {
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": taints}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// add adds a taint, in place of the ones that were added before.
func (b *busy) add(ctx context.Context, another corev1.Taint) error {
	node, err := b.admin.CoreV1().Nodes().Get(ctx, b.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if taint.Has(node, isOurs) {
		if _, err := taint.Set(ctx, b.admin.CoreV1().Nodes(), node, taint.Without(node, isOurs)); err != nil {
			return err
		}
	}
	return b.patch(ctx, func(before []corev1.Taint) string { return body(append(before, another)) })
}

// isOurs reports whether a taint has our mark.
func isOurs(t corev1.Taint) bool { return t.Value == contract.OverloadMark }

// asTheServerDoesIt uses the code of the server: it must be allowed, and it must work on nodes with and without other taints.
func (b *busy) asTheServerDoesIt(t *testing.T) {
	for _, name := range []string{"bare", b.name} {
		if name == "bare" {
			if _, err := b.admin.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, effect := range []corev1.TaintEffect{corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoSchedule, ""} {
			// The policy may not be in effect yet for rights that were granted a moment ago, and controllers change taints.
			localcluster.Eventually(t, fmt.Sprintf("the taint %q of the node %s", effect, name), func() error {
				node, err := b.admin.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
				if err != nil {
					return err
				}
				taints := taint.Without(node, isOurs)
				if effect != "" {
					taints = append(taints, oursWith(policy.DefaultOverloadTaint, effect))
				}
				after, err := taint.Set(t.Context(), b.server.CoreV1().Nodes(), node, taints)
				if err == nil && taint.Has(after, isOurs) != (effect != "") {
					t.Errorf("the taints are %v", after.Spec.Taints)
				}
				return err
			})
		}
	}
	node, err := b.admin.CoreV1().Nodes().Get(t.Context(), "bare", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node.UID = "another"
	if _, err := taint.Set(t.Context(), b.server.CoreV1().Nodes(), node, append(node.Spec.Taints, oursWith(policy.DefaultOverloadTaint, corev1.TaintEffectNoSchedule))); !apierrors.IsInvalid(err) {
		t.Errorf("another node was written: %v", err)
	}
	node, err = b.admin.CoreV1().Nodes().Get(t.Context(), "bare", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node.Spec.Taints = []corev1.Taint{{Key: "gone", Effect: corev1.TaintEffectNoSchedule}}
	if _, err := taint.Set(t.Context(), b.server.CoreV1().Nodes(), node, nil); !apierrors.IsInvalid(err) {
		t.Errorf("a node with other taints was written: %v", err)
	}
}

func (b *busy) andNothingElse(t *testing.T) {
	own := oursWith(policy.DefaultOverloadTaint, corev1.TaintEffectPreferNoSchedule)
	evil := func(change func(*corev1.Taint)) func([]corev1.Taint) string {
		taint := own
		change(&taint)
		return func(before []corev1.Taint) string { return body(append(before, taint)) }
	}
	for _, tc := range []struct {
		name, refusal string
		change        func([]corev1.Taint) string
	}{
		{"ends no pods", "taints of a node", evil(func(t *corev1.Taint) { t.Effect = corev1.TaintEffectNoExecute })},
		{"sets no taint without the mark", "taints of a node", evil(func(t *corev1.Taint) { t.Value = "" })},
		{"sets no taint with another key", "taints of a node", evil(func(t *corev1.Taint) { t.Key = "node.kubernetes.io/unschedulable" })},
		{"sets no startup taint", "taints of a node", evil(func(t *corev1.Taint) { t.Key = contract.StartupTaint })},
		{"removes no taint of others", "taints of a node", func([]corev1.Taint) string { return body([]corev1.Taint{own}) }},
		{"changes no label", "metadata of a node", func(before []corev1.Taint) string { return `{"metadata":{"labels":{"keep":"that"}}}` }},
		{"cordons nothing", "spec of a node", func(before []corev1.Taint) string { return `{"spec":{"unschedulable":true}}` }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := b.patch(t.Context(), tc.change); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.refusal) {
				t.Errorf("got %v, want it refused because of %s", err, tc.refusal)
			}
		})
	}
}

func (b *busy) anotherKeyNeedsARight(t *testing.T) {
	const key = "example.com/busy"
	other := oursWith(key, corev1.TaintEffectNoSchedule)
	if err := b.add(t.Context(), other); !apierrors.IsForbidden(err) {
		t.Fatalf("without the right: %v", err)
	}
	if err := b.allow(t.Context(), "workload-resizer-overloaded-key", key); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the right to be in effect", func() error { return b.add(t.Context(), other) })
}

// allow gives the server the right to set taints with a key.
func (b *busy) allow(ctx context.Context, name, key string) error {
	_, err := b.admin.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{"workload-resizer.io"}, Resources: []string{"taints"}, ResourceNames: []string{key}, Verbs: []string{"set"},
	}}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = b.admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: Namespace, Name: ServiceAccount}},
	}, metav1.CreateOptions{})
	return err
}

// withoutTheRight removes what the component adds, except for its policy.
func (b *busy) withoutTheRight(t *testing.T) {
	if err := b.admin.RbacV1().ClusterRoleBindings().Delete(t.Context(), "workload-resizer-overloaded-taint", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := b.admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Delete(t.Context(), "workload-resizer-overloaded-taint", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	own := oursWith(policy.DefaultOverloadTaint, corev1.TaintEffectPreferNoSchedule)
	localcluster.Eventually(t, "the right to be gone", func() error {
		err := b.add(t.Context(), own)
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "workload-resizer-startup-taint") {
			return nil
		}
		return fmt.Errorf("not refused by the policy of startup taints: %w", err)
	})
}
