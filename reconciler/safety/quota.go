package safety

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
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
	var requests, limits corev1.ResourceList
	for _, quota := range c.Quotas {
		if !matches(quota, c.pod, c.class) {
			continue
		}
		if text := c.uncountable(quota); text != "" {
			return fmt.Sprintf("ResourceQuota %s: %s", quota.Name, text)
		}
		if !c.grows.requests() && !c.grows.limits {
			continue
		}
		if requests == nil {
			requests, limits = c.increase()
		}
		if text := exceeding(quota, requests, limits); text != "" {
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
		for container, size := range c.after.of(c.pod) {
			d := demandOf(container, size, charge.resource)
			if charge.limit && !d.limited || !charge.limit && !d.requested {
				return fmt.Sprintf("container %s must have %s", container.Name, charge.name)
			}
		}
		if _, ok := quota.Status.Used[charge.name]; !ok {
			return fmt.Sprintf("how much %s is used is not known yet", charge.name)
		}
	}
	return ""
}

// withStatus counts what a node has set aside as well, as the quota plugin does.
var withStatus = resourcehelper.PodResourcesOptions{UseStatusResources: true}

// increase returns by how much the pod's requests and limits grow as quotas
// count them: what a resize under way has set aside is charged already.
func (c *change) increase() (requests, limits corev1.ResourceList) {
	after := c.after.resized(c.pod)
	requests = resourcehelper.PodRequests(after, withStatus)
	subtract(requests, resourcehelper.PodRequests(c.pod, withStatus))
	limits = resourcehelper.PodLimits(after, withStatus)
	subtract(limits, resourcehelper.PodLimits(c.pod, withStatus))
	return requests, limits
}

func subtract(from, list corev1.ResourceList) {
	for name, q := range from {
		q.Sub(list[name])
		from[name] = q
	}
}

// exceeding lists what the quota has no room for.
func exceeding(quota *corev1.ResourceQuota, requests, limits corev1.ResourceList) string {
	var short []string
	for _, charge := range charges {
		hard, ok := quota.Status.Hard[charge.name]
		if !ok {
			continue
		}
		more := requests[charge.resource]
		if charge.limit {
			more = limits[charge.resource]
		}
		if more.Sign() <= 0 {
			continue
		}
		used := quota.Status.Used[charge.name]
		sum := used.DeepCopy()
		sum.Add(more)
		if sum.Cmp(hard) > 0 {
			short = append(short, fmt.Sprintf("%s, requested: %s, used: %s, hard: %s", charge.name, more.String(), used.String(), hard.String()))
		}
	}
	return strings.Join(short, "; ")
}
