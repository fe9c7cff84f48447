package deploy

import (
	"cmp"
	"context"
	"errors"
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

	"github.com/workload-resizer/workload-resizer/agent/nodelabel"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const agentAccount = "workload-resizer-bench-node"

// testNodeAgent tests the components of the agent that measures its node.
func testNodeAgent(t *testing.T, config *rest.Config, admin kubernetes.Interface) {
	t.Run("runs an unprivileged agent of the lowest priority on every node", func(t *testing.T) {
		d, err := admin.AppsV1().DaemonSets(Namespace).Get(t.Context(), agentAccount, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		checkDaemonSet(t, admin, d)
	})
	for _, name := range []string{"mine", "other"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"keep": "this"}, Annotations: map[string]string{"keep": "this"}}}
		if _, err := admin.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("allows the agent to change one label of its own node", func(t *testing.T) { checkPolicy(t, config, admin) })
}

func checkDaemonSet(t *testing.T, admin kubernetes.Interface, d *appsv1.DaemonSet) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "trial", Namespace: Namespace, Labels: d.Spec.Template.Labels}, Spec: d.Spec.Template.Spec}
	pod, err := admin.CoreV1().Pods(Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		t.Fatal(err)
	}
	if pod.Spec.Priority == nil || *pod.Spec.Priority != -1_000_000_000 || *pod.Spec.PreemptionPolicy != corev1.PreemptNever {
		t.Errorf("priority %v", pod.Spec.Priority)
	}
	container := pod.Spec.Containers[0]
	if args := container.Args; args[len(args)-1] != "--label-node" {
		t.Errorf("args %v", args)
	}
	if _, limited := container.Resources.Limits[corev1.ResourceCPU]; limited {
		t.Error("the container has a CPU limit")
	}
}

// boundTo returns a client with a token of the agent's ServiceAccount. The token is bound to a
// pod on the node, as the token of every pod is, or to none if node is empty.
func boundTo(t *testing.T, config *rest.Config, admin kubernetes.Interface, node string) kubernetes.Interface {
	t.Helper()
	request := &authenticationv1.TokenRequest{}
	if node != "" {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "agent", Namespace: Namespace},
			Spec:       corev1.PodSpec{NodeName: node, ServiceAccountName: agentAccount, Containers: []corev1.Container{{Name: "agent", Image: "agent"}}},
		}
		no, yes, user := false, true, int64(65532)
		pod.Spec.AutomountServiceAccountToken = &no
		pod.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
			RunAsNonRoot: &yes, RunAsUser: &user, AllowPrivilegeEscalation: &no,
			Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}
		made, err := admin.CoreV1().Pods(Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: made.Name, UID: made.UID}
	}
	token, err := admin.CoreV1().ServiceAccounts(Namespace).CreateToken(t.Context(), agentAccount, request, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	as := rest.AnonymousClientConfig(config)
	as.BearerToken = token.Status.Token
	return kubernetes.NewForConfigOrDie(as)
}

func checkPolicy(t *testing.T, config *rest.Config, admin kubernetes.Interface) {
	agent, unbound := boundTo(t, config, admin, "mine"), boundTo(t, config, admin, "")
	// A policy takes effect a moment after its creation. Until then, only RBAC applies.
	localcluster.Eventually(t, "the policy to be in effect", func() error {
		err := patch(t.Context(), unbound, "other", `{"metadata":{"labels":{"probe":"1"}}}`)
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
			return nil
		}
		return fmt.Errorf("not in effect: %w", cmp.Or(err, errors.New("everything is allowed")))
	})
	for _, tc := range []struct {
		name, node, patch, refused string
		client                     kubernetes.Interface
	}{
		{"another label", "mine", `{"metadata":{"labels":{"other":"1"}}}`, "only change the label", agent},
		{"a changed label", "mine", `{"metadata":{"labels":{"keep":"that"}}}`, "only change the label", agent},
		{"a removed label", "mine", `{"metadata":{"labels":{"keep":null}}}`, "only change the label", agent},
		{"the label and another", "mine", `{"metadata":{"labels":{"workload-resizer.io/cpu-model":"x","cloud.google.com/machine-family":"n4"}}}`, "only change the label", agent},
		{"a taint", "mine", `{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}`, "spec of a node", agent},
		{"a change to unschedulable", "mine", `{"spec":{"unschedulable":true}}`, "spec of a node", agent},
		{"an annotation", "mine", `{"metadata":{"annotations":{"a":"b"}}}`, "annotations", agent},
		{"a finalizer", "mine", `{"metadata":{"finalizers":["example.com/a"]}}`, "finalizers", agent},
		{"another node", "other", `{"metadata":{"labels":{"workload-resizer.io/cpu-model":"x"}}}`, "its token is bound to", agent},
		{"a token that is bound to no node", "mine", `{"metadata":{"labels":{"workload-resizer.io/cpu-model":"x"}}}`, "its token is bound to", unbound},
	} {
		t.Run("refuses "+tc.name, func(t *testing.T) {
			err := patch(t.Context(), tc.client, tc.node, tc.patch)
			if err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %v, want a refusal that contains %q", err, tc.refused)
			}
		})
	}
	for _, model := range []string{"AMD-25-1", "AMD-25-1", "Intel-6-143"} {
		if err := nodelabel.Write(t.Context(), agent.CoreV1().Nodes(), "mine", model); err != nil {
			t.Fatal(err)
		}
		node, err := admin.CoreV1().Nodes().Get(t.Context(), "mine", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if node.Labels[nodetype.LabelOwnCPUModel] != model || node.Labels["keep"] != "this" {
			t.Errorf("labels %v", node.Labels)
		}
	}
	if err := nodelabel.Write(t.Context(), agent.CoreV1().Nodes(), "gone", "AMD-25-1"); !apierrors.IsNotFound(err) {
		t.Errorf("missing node: got %v, want NotFound", err)
	}
}

func patch(ctx context.Context, client kubernetes.Interface, node, body string) error {
	_, err := client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(body), metav1.PatchOptions{})
	return err
}
