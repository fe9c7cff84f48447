package main

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// namespace is the namespace of the pods.
	namespace = "soak"
	// shapeLabel holds the shape of a pod, and typeLabel the type of its node.
	shapeLabel, typeLabel = "shape", "cloud.google.com/machine-family"
)

// nodeTypes are the node types of the cluster; the first is the baseline.
var nodeTypes = []string{"n2d", "n4", "c3"}

// shapes are the originals: cpu request/limit, memory request/limit per container.
var shapes = map[string][]corev1.Container{
	"guaranteed": {container("app", "200m", "200m", "128Mi", "128Mi")},
	"burstable":  {container("app", "150m", "600m", "100Mi", "256Mi")},
	"unlimited":  {container("app", "333m", "", "200Mi", "")},
	"two":        {container("app", "120m", "120m", "96Mi", "96Mi"), container("side", "251m", "", "77Mi", "154Mi")},
}

// qosOf is the QoS class of each shape, which no resize may change.
var qosOf = map[string]corev1.PodQOSClass{
	"guaranteed": corev1.PodQOSGuaranteed, "burstable": corev1.PodQOSBurstable, "unlimited": corev1.PodQOSBurstable, "two": corev1.PodQOSBurstable,
}

func container(name, cpu, cpuLimit, memory, memoryLimit string) corev1.Container {
	list := func(cpu, memory string) corev1.ResourceList {
		amounts := corev1.ResourceList{}
		if cpu != "" {
			amounts[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
		if memory != "" {
			amounts[corev1.ResourceMemory] = resource.MustParse(memory)
		}
		return amounts
	}
	return corev1.Container{
		Name: name, Image: "registry.k8s.io/pause:3.10",
		Resources: corev1.ResourceRequirements{Requests: list(cpu, memory), Limits: list(cpuLimit, memoryLimit)},
	}
}

// workload is a Deployment of pods of one shape on nodes of one type.
func workload(nodeType, shape string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{shapeLabel: shape, typeLabel: nodeType}
	grace, mount := int64(0), false
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: nodeType + "-" + shape},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeSelector:                  map[string]string{typeLabel: nodeType},
					TerminationGracePeriodSeconds: &grace,
					// Token renewals would be most of the kubelets' requests.
					AutomountServiceAccountToken: &mount,
					Containers:                   shapes[shape],
				},
			},
		},
	}
}

// configuration returns the ConfigMap with these performances of the node types, for CPU
// and memory.
func configuration(cpu, memory map[string]string) []byte {
	var types strings.Builder
	for _, nodeType := range nodeTypes {
		fmt.Fprintf(&types, "      %s: { cpuPerf: %s, memPerf: %s }\n", nodeType, cpu[nodeType], memory[nodeType])
	}
	return fmt.Appendf(nil, `apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: %s
    nodeTypes:
%s    bounds:
      cpu: { min: "%dm", max: "%dm" }
      memory: { min: "%d", max: "%d" }
    guard: { maxUnproven: 100%% }
    pace: { freedPerHour: 0 }
`, nodeTypes[0], types.String(), cpuBounds.Min, cpuBounds.Max, memoryBounds.Min, memoryBounds.Max)
}
