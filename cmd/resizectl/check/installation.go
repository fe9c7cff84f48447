package check

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const install = "install the server: docs/tasks/install.md"

// installation checks whether the server runs in the cluster.
func (s *subject) installation(ctx context.Context) []Result {
	const check = "pods"
	switch {
	case s.deployedErr != nil:
		return []Result{unknown("service", "the Service of the server", s.deployedErr)}
	case s.deployed == nil && s.status != nil:
		return []Result{ok("service", "there is no Service %s/%s: the server runs outside of the cluster", s.namespace, s.service)}
	case s.deployed == nil:
		return []Result{failure("service", install+"; --service names another Service, and --server the address of a server outside of the cluster", "there is no Service %s/%s", s.namespace, s.service)}
	}
	found := []Result{ok("service", "the Service is %s/%s", s.namespace, s.service)}
	pods, err := s.pods(ctx)
	if err != nil {
		return append(found, unknown(check, "the pods of the server", err))
	}
	var unready []string
	for i := range pods {
		if !isReady(&pods[i]) {
			unready = append(unready, pods[i].Name)
		}
	}
	look := "find out why: kubectl -n " + s.namespace + " describe pods"
	switch {
	case len(pods) == 0:
		return append(found, failure(check, look+"; docs/reference/alerts.md#workloadresizerabsent", "no pod of the server runs"))
	case len(unready) == len(pods):
		return append(found, failure(check, look+"; docs/reference/alerts.md#workloadresizerabsent", "no pod of the server is ready: %s", some(unready)))
	case len(unready) > 0:
		return append(found, warning(check, look+"; docs/reference/alerts.md#workloadresizerreplicadown", "%d of %s of the server not ready: %s", len(unready), count(len(pods), "pod"), some(unready)))
	}
	return append(found, ok(check, "all pods of the server are ready: %d", len(pods)))
}

// pods returns the pods behind the server's Service.
func (s *subject) pods(ctx context.Context) ([]corev1.Pod, error) {
	pods, err := s.kube.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.FormatLabels(s.deployed.Spec.Selector)})
	if err != nil {
		return nil, err
	}
	return pods.Items, nil
}

func isReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
