package deploy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// testStartupTaint tries with the server's own account what a stolen token could do to nodes.
func testStartupTaint(t *testing.T, config *rest.Config, admin kubernetes.Interface, manifest []byte) {
	token, err := admin.CoreV1().ServiceAccounts(Namespace).CreateToken(t.Context(), ServiceAccount, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	as := rest.AnonymousClientConfig(config)
	as.BearerToken = token.Status.Token
	server := kubernetes.NewForConfigOrDie(as)

	ours, other := corev1.Taint{Key: contract.StartupTaint, Effect: corev1.TaintEffectNoSchedule}, corev1.Taint{Key: "dedicated", Value: "infra", Effect: corev1.TaintEffectNoSchedule}
	if _, err := admin.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "joining", Labels: map[string]string{"keep": "this"}, Annotations: map[string]string{"keep": "this"}},
		Spec:       corev1.NodeSpec{PodCIDR: "10.1.0.0/24", PodCIDRs: []string{"10.1.0.0/24"}, ProviderID: "cloud://joining", Taints: []corev1.Taint{other, ours}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// others returns the current taints except for ours. Controllers also taint the node, which
	// has no kubelet.
	others := func() string {
		node, err := admin.CoreV1().Nodes().Get(t.Context(), "joining", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, taint := range node.Spec.Taints {
			if taint.Key != contract.StartupTaint {
				text, err := json.Marshal(taint)
				if err != nil {
					t.Fatal(err)
				}
				kept = append(kept, string(text))
			}
		}
		return strings.Join(kept, ",")
	}
	// A patch is judged with the other taints that it names: it is tried again if these changed meanwhile.
	try := func(body string, subresources ...string) error {
		for {
			before := others()
			patch := []byte(strings.ReplaceAll(body, "OTHERS", before))
			_, err := server.CoreV1().Nodes().Patch(t.Context(), "joining", types.MergePatchType, patch, metav1.PatchOptions{}, subresources...)
			if err == nil || before == others() {
				return err
			}
		}
	}
	tries := 0
	localcluster.Eventually(t, "the policy to be in effect", func() error {
		tries++ // A patch that changes nothing is allowed.
		if err := try(fmt.Sprintf(`{"metadata":{"labels":{"probe":"%d"}}}`, tries)); err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
			return fmt.Errorf("not in effect: %w", err)
		}
		return nil
	})
	for _, tc := range []struct{ name, body, refusal string }{
		{"does not add a taint", `{"spec":{"taints":[OTHERS,{"key":"evil","effect":"NoExecute"}]}}`, "taints of a node"},
		{"does not remove a taint of others", `{"spec":{"taints":[{"key":"` + contract.StartupTaint + `","effect":"NoSchedule"}]}}`, "taints of a node"},
		{"does not remove all taints", `{"spec":{"taints":null}}`, "taints of a node"},
		{"does not change its taint", `{"spec":{"taints":[OTHERS,{"key":"` + contract.StartupTaint + `","effect":"NoExecute"}]}}`, "taints of a node"},
		{"does not remove its taint together with another change", `{"metadata":{"labels":{"evil":"yes"}},"spec":{"taints":[OTHERS]}}`, "metadata of a node"},
		{"does not cordon", `{"spec":{"unschedulable":true}}`, "spec of a node"},
		{"does not change a label", `{"metadata":{"labels":{"keep":"that"}}}`, "metadata of a node"},
		{"does not remove a label", `{"metadata":{"labels":{"keep":null}}}`, "metadata of a node"},
		{"does not change an annotation", `{"metadata":{"annotations":{"keep":"that"}}}`, "metadata of a node"},
		{"does not add a finalizer", `{"metadata":{"finalizers":["example.com/evil"]}}`, "metadata of a node"},
		{"does not add an owner", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"other","uid":"1"}]}}`, "metadata of a node"},
		{"does not set a prefix of names", `{"metadata":{"generateName":"evil-"}}`, "metadata of a node"},
		{"does not set a link", `{"metadata":{"selfLink":"/evil"}}`, "metadata of a node"},
		{"removes its taint", `{"spec":{"taints":[OTHERS]}}`, ""},
		{"does not add its taint", `{"spec":{"taints":[OTHERS,{"key":"` + contract.StartupTaint + `","effect":"NoSchedule"}]}}`, "taints of a node"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := try(tc.body)
			switch {
			case tc.refusal == "" && err != nil:
				t.Errorf("got %v, want it allowed", err)
			case tc.refusal != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.refusal)):
				t.Errorf("got %v, want it refused because of %s", err, tc.refusal)
			}
		})
	}
	t.Run("the policy type-checks", func(t *testing.T) {
		policy, err := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), "workload-resizer-startup-taint", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if policy.Status.TypeChecking != nil && len(policy.Status.TypeChecking.ExpressionWarnings) > 0 {
			t.Errorf("%v", policy.Status.TypeChecking.ExpressionWarnings)
		}
	})
	t.Run("the server runs on new nodes", func(t *testing.T) {
		tolerations := only[appsv1.Deployment](t, manifest, "Deployment").Spec.Template.Spec.Tolerations
		if len(tolerations) != 1 || tolerations[0].Key != contract.StartupTaint || tolerations[0].Operator != corev1.TolerationOpExists {
			t.Errorf("it tolerates %v", tolerations)
		}
	})
}
