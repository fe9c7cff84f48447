package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// patches are the three writes of a resize, as the server sends them.
type patches struct{ originals, resize, applied patch }

type patch struct {
	Metadata patchMetadata `json:"metadata"`
	Spec     *patchSpec    `json:"spec,omitempty"`
}

type patchMetadata struct {
	UID             types.UID         `json:"uid"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
}

type patchSpec struct {
	Containers []patchContainer `json:"containers"`
}

type patchContainer struct {
	Name      string                      `json:"name"`
	Resources corev1.ResourceRequirements `json:"resources"`
}

// patchesOf returns the patches that the server sends for a pod of the typical template
// on a node of type fast.
func patchesOf(pod *corev1.Pod) patches {
	p := patches{resize: patch{Spec: &patchSpec{}}}
	originals := map[string]string{}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		for original, amount := range map[contract.Original]resource.Quantity{
			contract.CPURequest: *c.Resources.Requests.Cpu(), contract.MemoryRequest: *c.Resources.Requests.Memory(),
			contract.CPULimit: *c.Resources.Limits.Cpu(), contract.MemoryLimit: *c.Resources.Limits.Memory(),
		} {
			originals[original.Key(c.Name)] = amount.String()
		}
		p.resize.Spec.Containers = append(p.resize.Spec.Containers, patchContainer{c.Name, corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: onFast(*c.Resources.Requests.Cpu())},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: onFast(*c.Resources.Limits.Cpu())},
		}})
	}
	p.originals.Metadata.Annotations = originals
	p.applied.Metadata.Annotations = map[string]string{
		contract.AppliedInstanceType: fast,
		contract.AppliedAt:           time.Now().UTC().Format(time.RFC3339),
	}
	return p
}

// onFast scales an amount of CPU for a node of type fast.
func onFast(cpu resource.Quantity) resource.Quantity {
	return *resource.NewMilliQuantity(int64(float64(cpu.MilliValue())/fastPerf), resource.DecimalSI)
}
