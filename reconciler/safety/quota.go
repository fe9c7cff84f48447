package safety

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// charges are what a quota counts of a pod's cpu and memory. cpu and memory are
// other names of requests.cpu and requests.memory.
var charges = [...]struct {
	name     corev1.ResourceName
	resource corev1.ResourceName
	limit    bool
}{
	{corev1.ResourceCPU, corev1.ResourceCPU, false},
	{corev1.ResourceRequestsCPU, corev1.ResourceCPU, false},
	{corev1.ResourceLimitsCPU, corev1.ResourceCPU, true},
	{corev1.ResourceMemory, corev1.ResourceMemory, false},
	{corev1.ResourceRequestsMemory, corev1.ResourceMemory, false},
	{corev1.ResourceLimitsMemory, corev1.ResourceMemory, true},
}

// beyondQuota foresees what the API server's ResourceQuota plugin does to a
// resize: it refuses any of a pod that a quota cannot count, and an increase
// that exceeds one. As there, what counts is the status of the quota.
func (c *change) beyondQuota() string {
	for _, quota := range c.Quotas {
		if !matches(quota, c.pod, c.class) {
			continue
		}
		if text := c.uncountable(quota); text != "" {
			return fmt.Sprintf("ResourceQuota %s: %s", quota.Name, text)
		}
		if text := exceeding(quota, c.increase(requests), c.increase(limits)); text != "" {
			return fmt.Sprintf("ResourceQuota %s has no room: %s", quota.Name, text)
		}
	}
	return ""
}

// uncountable tells what keeps the quota from counting the pod.
func (c *change) uncountable(quota *corev1.ResourceQuota) string {
	for _, charge := range charges {
		if _, ok := quota.Status.Hard[charge.name]; !ok {
			continue
		}
		for i, size := range c.after {
			container := &c.pod.Containers[i]
			d := demandOf(container, size, charge.resource)
			if charge.limit && !d.limited || !charge.limit && !d.requested {
				return fmt.Sprintf("container %s must have %s", container.Name(), charge.name)
			}
		}
		if _, ok := quota.Status.Used[charge.name]; !ok {
			return fmt.Sprintf("how much %s is used is not known yet", charge.name)
		}
	}
	return ""
}

// increase returns by how much the pod's requests or limits grow as quotas
// count them: what a resize under way has set aside is charged already.
func (c *change) increase(of func(p *pod.Pod, sizes Sizes, refused bool) Resources) Resources {
	refused := c.pod.RefusedForGood()
	return of(c.pod, c.after, refused).minus(of(c.pod, c.before, refused))
}

// exceeding lists what the quota has no room for.
func exceeding(quota *corev1.ResourceQuota, requests, limits Resources) string {
	var short []string
	for _, charge := range charges {
		hard, ok := quota.Status.Hard[charge.name]
		if !ok {
			continue
		}
		usage := requests
		if charge.limit {
			usage = limits
		}
		more := usage.of(charge.resource)
		if more.Sign() <= 0 {
			continue
		}
		used := quota.Status.Used[charge.name]
		sum := used.DeepCopy()
		sum.Add(*more)
		if sum.Cmp(hard) > 0 {
			short = append(short, fmt.Sprintf("%s, requested: %s, used: %s, hard: %s", charge.name, more.String(), used.String(), hard.String()))
		}
	}
	return strings.Join(short, "; ")
}
