package deploy

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// checkRestricted checks that the API server accepts a pod of each template in the namespace,
// and refuses the same pod with more privileges.
func checkRestricted(t *testing.T, admin kubernetes.Interface, manifest []byte) {
	for name, template := range templates(t, manifest) {
		if name == "DaemonSet/"+usageAgent {
			continue // It runs in another namespace: see testUsageAgent.
		}
		create := func(change func(*corev1.PodSpec)) (*corev1.Pod, error) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "trial", Labels: template.Labels}, Spec: *template.Spec.DeepCopy()}
			change(&pod.Spec)
			return admin.CoreV1().Pods(Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		}
		t.Run(name+": is accepted with its priority", func(t *testing.T) {
			pod, err := create(func(*corev1.PodSpec) {})
			if err != nil {
				t.Fatal(err)
			}
			if pod.Spec.Priority == nil || *pod.Spec.Priority == 0 {
				t.Errorf("the priority is %v", pod.Spec.Priority)
			}
		})
		for what, change := range map[string]func(*corev1.PodSpec){
			"with more privileges": func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.AllowPrivilegeEscalation = new(true) },
			"as root":              func(s *corev1.PodSpec) { s.SecurityContext.RunAsUser = new(int64(0)) },
		} {
			t.Run(name+": is refused "+what, func(t *testing.T) {
				if _, err := create(change); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "violates PodSecurity") {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}
