package deploy

import (
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	usageAgent      = "workload-resizer-report-usage"
	agentsNamespace = "workload-resizer-agents"
)

// testUsageAgent tests the component of the agent that reports usage.
func testUsageAgent(t *testing.T, admin kubernetes.Interface) {
	d, err := admin.AppsV1().DaemonSets(agentsNamespace).Get(t.Context(), usageAgent, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	try := func(namespace, account string) (*corev1.Pod, error) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "trial"}, Spec: *d.Spec.Template.Spec.DeepCopy()}
		pod.Spec.ServiceAccountName = account
		return admin.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	}
	t.Run("runs an unprivileged agent on every node", func(t *testing.T) {
		pod, err := try(agentsNamespace, usageAgent)
		if err != nil {
			t.Fatal(err)
		}
		if *pod.Spec.Priority != 900_000 || d.Spec.Template.Annotations["workload-resizer.io/skip"] != "true" {
			t.Errorf("priority %d, annotations %v", *pod.Spec.Priority, d.Spec.Template.Annotations)
		}
		checkUnprivileged(t, &pod.Spec)
	})
	t.Run("needs a namespace of its own", func(t *testing.T) {
		_, err := try(Namespace, "workload-resizer-viewer")
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "hostPath") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("allows the agent to send usage, and to read the server's authority", func(t *testing.T) { checkUsageRights(t, admin) })
}

func checkUnprivileged(t *testing.T, spec *corev1.PodSpec) {
	t.Helper()
	container := spec.Containers[0]
	if s := container.SecurityContext; !*spec.SecurityContext.RunAsNonRoot || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || s.Privileged != nil ||
		len(s.Capabilities.Add) > 0 || s.Capabilities.Drop[0] != "ALL" || spec.HostPID || spec.HostNetwork || spec.HostIPC {
		t.Errorf("the pod is privileged: %+v", spec)
	}
	host := 0
	for _, v := range spec.Volumes {
		if v.HostPath == nil {
			continue
		}
		host++
		for _, m := range container.VolumeMounts {
			if m.Name == v.Name && (!m.ReadOnly || v.HostPath.Path != "/sys/fs/cgroup") {
				t.Errorf("%s is mounted writable: %v", v.HostPath.Path, !m.ReadOnly)
			}
		}
	}
	if host != 1 {
		t.Errorf("%d paths of the host are mounted, want 1", host)
	}
}

func checkUsageRights(t *testing.T, admin kubernetes.Interface) {
	for _, tc := range []struct {
		verb, group, resource, name, namespace string
		allowed                                bool
	}{
		{"create", "workload-resizer.io", "usages", "", "", true},
		{"get", "", "configmaps", "workload-resizer-ca", Namespace, true},
		{"create", "workload-resizer.io", "samples", "", "", false},
		{"list", "workload-resizer.io", "usages", "", "", false},
		{"get", "", "configmaps", "workload-resizer-config", Namespace, false},
		{"update", "", "configmaps", "workload-resizer-ca", Namespace, false},
		{"get", "", "secrets", "workload-resizer-tls", Namespace, false},
		{"create", "", "pods", "", agentsNamespace, false},
	} {
		review, err := admin.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + agentsNamespace + ":" + usageAgent, Groups: []string{"system:serviceaccounts", "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: tc.verb, Group: tc.group, Resource: tc.resource, Name: tc.name, Namespace: tc.namespace},
		}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if review.Status.Allowed != tc.allowed {
			t.Errorf("%+v: allowed %v", tc, review.Status.Allowed)
		}
	}
}
