package statuswriter_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func (s *suite) node(t *testing.T, name, kubelet string) {
	t.Helper()
	size := list("1000", "1000Gi")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Allocatable: size, Capacity: size, NodeInfo: corev1.NodeSystemInfo{KubeletVersion: kubelet},
	}}
	if _, err := s.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func list(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func sizes(cpu string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: list(cpu, "64Mi"), Limits: list("4", "128Mi")}
}

// create creates a pod whose containers each request 1 core.
func (s *suite) create(t *testing.T, name, node string) *corev1.Pod {
	t.Helper()
	always, no := corev1.ContainerRestartPolicyAlways, false
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, AutomountServiceAccountToken: &no, SchedulerName: "none",
			InitContainers: []corev1.Container{
				{Name: "first", Image: "none", Resources: sizes("1")},
				{Name: "sidecar", Image: "none", RestartPolicy: &always, Resources: sizes("1")},
			},
			Containers: []corev1.Container{{Name: "app", Image: "none", Resources: sizes("1")}},
		},
	}
	created, err := s.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// resize changes the CPU request of the container app.
func (s *suite) resize(ctx context.Context, pod, cpu string) error {
	patch := fmt.Appendf(nil, `{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":%q}}}]}}`, cpu)
	_, err := s.client.CoreV1().Pods(namespace).Patch(ctx, pod, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize")
	return err
}

func (s *suite) mustResize(t *testing.T, pod, cpu string) {
	t.Helper()
	if err := s.resize(t.Context(), pod, cpu); err != nil {
		t.Fatal(err)
	}
}

// await returns the pod once check returns nil for it.
func (s *suite) await(t *testing.T, name, what string, check func(*corev1.Pod) error) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	localcluster.Eventually(t, name+" to "+what, func() (err error) {
		if pod, err = s.client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			return err
		}
		return check(pod)
	})
	return pod
}

func running(pod *corev1.Pod) error {
	if pod.Status.Phase != corev1.PodRunning {
		return fmt.Errorf("the pod is %s", pod.Status.Phase)
	}
	return nil
}

// has returns a check of the cores in resources and allocatedResources of the container app.
func has(resources, allocated string) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		if len(pod.Status.ContainerStatuses) != 1 {
			return errors.New("the pod has no container statuses yet")
		}
		status := pod.Status.ContainerStatuses[0]
		want := sizes(resources)
		if !equality.Semantic.DeepEqual(*status.Resources, want) || !equality.Semantic.DeepEqual(status.AllocatedResources, list(allocated, "64Mi")) {
			return fmt.Errorf("resources %v, allocated %v", status.Resources, status.AllocatedResources)
		}
		return nil
	}
}

// said returns the pod's resize conditions as TYPE/REASON/MESSAGE.
func said(pod *corev1.Pod) []string {
	var said []string
	for _, c := range pod.Status.Conditions {
		if (c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress) && c.Status == corev1.ConditionTrue {
			said = append(said, string(c.Type)+"/"+c.Reason+"/"+c.Message)
		}
	}
	return said
}

func saying(want []string) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		if diff := cmp.Diff(want, said(pod)); diff != "" {
			return fmt.Errorf("conditions: %s", diff)
		}
		return nil
	}
}

// observed checks that the kubelet observed the current generation. API servers before 1.34 do
// not store observed generations.
func (s *suite) observed(pod *corev1.Pod) error {
	want := pod.Generation
	if s.cluster.Version().LessThan(version.MajorMinor(1, 34)) {
		want = 0
	}
	if got := pod.Status.ObservedGeneration; got != want {
		return fmt.Errorf("observed generation %d, want %d", got, want)
	}
	return nil
}

func all(checks ...func(*corev1.Pod) error) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		var errs []error
		for _, check := range checks {
			errs = append(errs, check(pod))
		}
		return errors.Join(errs...)
	}
}
