package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

//go:embed pod.yaml
var podYAML []byte

// fast is the type of the nodes on which pods need a resize, and fastPerf is how much
// faster they are than the baseline.
const (
	fast     = "n4"
	fastPerf = 1.25
	fastOnly = "  " + fast + ": {cpuPerf: 1.25, memPerf: 1}\n"
	// defaults are ratios and no other settings, so that only new pods are resized immediately.
	defaults = "baselineNodeType: n2d\nnodeTypes:\n  n2d: {cpuPerf: 1, memPerf: 1}\n" + fastOnly
	// allAtOnce resizes all pods as fast as the server can, and ratios do so.
	allAtOnce = "guard: {maxUnproven: 100%}\npace: {resizesPerSecond: 0, freedPerHour: 0}\n"
	ratios    = allAtOnce + defaults
)

// template creates a pod of typical size on a node, as a template for copies. It replaces
// an existing pod of that name. A stamped pod is created under the policy that stamps
// originals.
func (c *cluster) template(ctx context.Context, name, node string, stamped bool) (*corev1.Pod, error) {
	pod, err := typicalPod(name, node)
	if err != nil {
		return nil, err
	}
	return c.create(ctx, pod, stamped)
}

func typicalPod(name, node string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if err := yaml.Unmarshal(podYAML, pod); err != nil {
		return nil, fmt.Errorf("read pod.yaml: %w", err)
	}
	pod.Namespace, pod.Name, pod.Spec.NodeName = templates, name, node
	return pod, nil
}

func (c *cluster) removeTemplate(ctx context.Context, name string) error {
	err := c.client.CoreV1().Pods(templates).Delete(ctx, name, *metav1.NewDeleteOptions(0))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete a template: %w", err)
	}
	return nil
}

// start writes the status that a kubelet writes for a pod that runs with the resources of
// its spec.
func (c *cluster) start(ctx context.Context, pod *corev1.Pod) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": runningStatus(pod)})
	if err != nil {
		return fmt.Errorf("encode a status: %w", err)
	}
	_, err = c.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{FieldManager: "kubelet"}, "status")
	if err != nil {
		return fmt.Errorf("start pod %s: %w", pod.Name, err)
	}
	return nil
}

func runningStatus(pod *corev1.Pod) *corev1.PodStatus {
	now := metav1.Now().Rfc3339Copy()
	status := &corev1.PodStatus{
		Phase: corev1.PodRunning, ObservedGeneration: pod.Generation, StartTime: &now,
		HostIP: "10.1.0.1", HostIPs: []corev1.HostIP{{IP: "10.1.0.1"}}, PodIP: "10.8.0.1", PodIPs: []corev1.PodIP{{IP: "10.8.0.1"}},
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now, ObservedGeneration: pod.Generation})
	}
	yes := true
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: &yes,
			ImageID:            c.Image + "@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
			ContainerID:        "containerd://0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
			State:              corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
			AllocatedResources: c.Resources.Requests,
			Resources:          &c.Resources,
		})
	}
	return status
}

// check returns an error unless all pods have the sizes for a fast node and are annotated
// accordingly.
func (c *cluster) check(ctx context.Context) error {
	list, err := c.client.CoreV1().Pods(filled).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the pods: %w", err)
	}
	wrong := 0
	for i := range list.Items {
		if !resized(&list.Items[i]) || list.Items[i].Annotations[contract.AppliedInstanceType] != fast {
			wrong++
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d pods do not have the desired sizes", wrong, len(list.Items))
	}
	return nil
}

// resized reports whether a pod has the size for a fast node.
func resized(pod *corev1.Pod) bool {
	// The requests of pod.yaml on a node that is 1.25 times as fast.
	return pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() == 800 && pod.Spec.Containers[1].Resources.Requests.Cpu().MilliValue() == 200
}

// sizeOf returns the size of a pod as JSON, in bytes.
func sizeOf(pod *corev1.Pod) (float64, error) {
	content, err := json.Marshal(pod)
	return float64(len(content)), err
}
