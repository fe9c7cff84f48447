package chaos

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// container is one container of a pod to create. Empty quantities are not set.
type container struct {
	name                               string
	cpu, cpuLimit, memory, memoryLimit string
	// restarts is the resource that cannot be resized without a restart.
	restarts corev1.ResourceName
}

// shape is a pod to create. Its first containers are sidecars.
type shape struct {
	sidecars   int
	containers []container
}

var longName = strings.Repeat("long-container-", 4) + "abc" // 63 characters.

// shapes is a mixed set of pods.
var shapes = []shape{
	{0, []container{{"app", "1", "1", "1Gi", "1Gi", ""}}},        // Guaranteed
	{0, []container{{"app", "500m", "2", "256Mi", "512Mi", ""}}}, // Burstable
	{0, []container{{"app", "250m", "", "128Mi", "", ""}}},       // Requests only.
	{0, []container{{"app", "", "", "300M", "", ""}}},            // Memory only, and not in whole Mi.
	{0, []container{{"app", "333m", "", "", "", ""}}},            // CPU only.
	{0, []container{{"app", "20m", "40m", "32Mi", "64Mi", ""}}},  // At lower bounds.
	{0, []container{{"app", "16", "16", "32Gi", "32Gi", ""}}},    // At upper bounds.
	{0, []container{{longName, "700m", "1400m", "96Mi", "1Gi", ""}}},
	{0, []container{{"app", "2", "4", "1Gi", "2Gi", corev1.ResourceMemory}}},
	{0, []container{{"app", "1500m", "1500m", "512Mi", "512Mi", corev1.ResourceCPU}}},
	{0, []container{{"app", "1", "2", "1Gi", "1Gi", ""}, {"log", "50m", "", "64Mi", "128Mi", ""}}},
	{0, []container{{"a", "1", "1", "1Gi", "1Gi", ""}, {"b", "100m", "100m", "100Mi", "100Mi", ""}, {"c", "30m", "30m", "10Mi", "10Mi", ""}}},
	{1, []container{{"proxy", "100m", "300m", "64Mi", "64Mi", ""}, {"app", "900m", "", "777Mi", "", ""}}},
	{1, []container{{longName, "200m", "200m", "128Mi", "128Mi", ""}, {"app", "800m", "800m", "1Gi", "1Gi", ""}}},
}

// spec returns the spec of the pod on a node.
func (s *shape) spec(node string) corev1.PodSpec {
	no := false
	spec := corev1.PodSpec{
		NodeName: node, AutomountServiceAccountToken: &no,
		// No kubelet reports that the nodes are alive.
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
	}
	for i, c := range s.containers {
		to := corev1.Container{Name: c.name, Image: "none", Resources: corev1.ResourceRequirements{
			Requests: list(c.cpu, c.memory), Limits: list(c.cpuLimit, c.memoryLimit),
		}}
		if c.restarts != "" {
			to.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: c.restarts, RestartPolicy: corev1.RestartContainer}}
		}
		if i < s.sidecars {
			always := corev1.ContainerRestartPolicyAlways
			to.RestartPolicy = &always
			spec.InitContainers = append(spec.InitContainers, to)
			continue
		}
		spec.Containers = append(spec.Containers, to)
	}
	return spec
}

func list(cpu, memory string) corev1.ResourceList {
	list := corev1.ResourceList{}
	if cpu != "" {
		list[corev1.ResourceCPU] = resource.MustParse(cpu)
	}
	if memory != "" {
		list[corev1.ResourceMemory] = resource.MustParse(memory)
	}
	return list
}
