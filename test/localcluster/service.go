package localcluster

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// behindService is a pod for a server that listens on this machine, to which pods in the test
// cluster forward connections. The Service of the Deployment selects the pod. Readiness is not
// probed here, so MarkReady sets it.
const behindService = `
apiVersion: v1
kind: Pod
metadata:
  name: workload-resizer
  namespace: %[1]s
  labels: {app.kubernetes.io/name: workload-resizer, app.kubernetes.io/component: server}
spec:
  serviceAccountName: workload-resizer
  automountServiceAccountToken: false
  readinessGates: [{conditionType: e2e.workload-resizer.io/ready}]
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: server
    image: simulated/workload-resizer
    ports: [{name: grpc, containerPort: %[2]s}]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`

// BehindService returns the manifest of a pod that lets users of a cluster find a server on this
// machine through its Service, by the port where it listens.
func BehindService(namespace, port string) []byte {
	return fmt.Appendf(nil, behindService, namespace, port)
}

// MarkReady makes that pod ready.
func (c *Cluster) MarkReady(tb testing.TB, namespace string) {
	tb.Helper()
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		tb.Fatal(err)
	}
	pods := client.CoreV1().Pods(namespace)
	const patch = `{"status": {"conditions": [{"type": "e2e.workload-resizer.io/ready", "status": "True"}]}}`
	if _, err := pods.Patch(tb.Context(), "workload-resizer", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		tb.Fatal(err)
	}
	Eventually(tb, "the server's pod to be ready", func() error { return isReady(tb.Context(), client, namespace) })
}

func isReady(ctx context.Context, client kubernetes.Interface, namespace string) error {
	pod, err := client.CoreV1().Pods(namespace).Get(ctx, "workload-resizer", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("its conditions are %v", pod.Status.Conditions)
}
