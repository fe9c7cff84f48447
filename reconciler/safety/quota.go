package safety

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// charges lists the resources by which a quota counts a pod's cpu and memory. cpu and memory
// are other names for requests.cpu and requests.memory.
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

// beyondQuota predicts what the API server's ResourceQuota plugin does to a resize: it
// rejects every resize of a pod that a quota cannot count, and increases that exceed a quota.
// Like the plugin, it uses the status of the quota.
func (c *change) beyondQuota() string {
	for _, quota := range c.Quotas {
		if !matches(quota, c.pod, c.class) {
			continue
		}
		if text := c.uncountable(quota); text != "" {
			return fmt.Sprintf("ResourceQuota %s: %s", quota.Name, text)
		}
		if text := exceeding(quota, c.increase(node.RequestsWith), c.increase(node.LimitsWith)); text != "" {
			return fmt.Sprintf("ResourceQuota %s has no room: %s", quota.Name, text)
		}
	}
	return ""
}

// uncountable returns the reason why the quota cannot count the pod.
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
			return fmt.Sprintf("the usage of %s is not known yet", charge.name)
		}
	}
	return ""
}

// increase returns by how much the pod's requests or limits grow, as quotas count them:
// quotas already charge what a resize in progress has allocated.
func (c *change) increase(of func(p *pod.Pod, sizes []sizing.Container, refused bool) node.Resources) node.Resources {
	refused := c.pod.RefusedForGood()
	return of(c.pod, c.after, refused).Minus(of(c.pod, c.before, refused))
}

// exceeding lists the resources for which the quota has no room.
func exceeding(quota *corev1.ResourceQuota, requests, limits node.Resources) string {
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
		more := quantity(usage, charge.resource)
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

// quantity returns the quantity of cpu or memory.
func quantity(of node.Resources, name corev1.ResourceName) *resource.Quantity {
	if name == corev1.ResourceCPU {
		return resource.NewMilliQuantity(of.CPU, resource.DecimalSI)
	}
	return resource.NewQuantity(of.Memory, resource.BinarySI)
}

// Charged returns the quotas as they will be once they have counted a pod that is being created.
func Charged(quotas []*corev1.ResourceQuota, by *pod.Pod) []*corev1.ResourceQuota {
	requests, limits := node.RequestsWith(by, nil, false), node.LimitsWith(by, nil, false)
	all := make([]*corev1.ResourceQuota, len(quotas))
	for i, quota := range quotas {
		charged := *quota
		charged.Status.Used = maps.Clone(quota.Status.Used)
		for _, charge := range charges {
			used, ok := charged.Status.Used[charge.name]
			if !ok {
				continue
			}
			usage := requests
			if charge.limit {
				usage = limits
			}
			sum := used.DeepCopy()
			sum.Add(*quantity(usage, charge.resource))
			charged.Status.Used[charge.name] = sum
		}
		all[i] = &charged
	}
	return all
}

// NoRoomAfter returns why quotas would not let a pod be created when another one of its workload is gone; empty if they would. A quota
// that was lowered may have no room even then. Only cpu and memory may differ between the two pods.
func NoRoomAfter(quotas []*corev1.ResourceQuota, gone, next *pod.Pod) string {
	for _, quota := range quotas {
		if !matches(quota, next, next.QOSClass()) {
			continue
		}
		leaves := matches(quota, gone, gone.QOSClass())
		for _, name := range slices.Sorted(maps.Keys(quota.Status.Hard)) {
			hard := quota.Status.Hard[name]
			used, known := quota.Status.Used[name]
			more, counts := changeOf(name, gone, next, leaves)
			sum := used.DeepCopy()
			sum.Add(*more)
			if counts && (!known || sum.Cmp(hard) > 0) {
				return fmt.Sprintf("ResourceQuota %s has no room: %s, used: %s, hard: %s", quota.Name, name, &used, &hard)
			}
		}
	}
	return ""
}

// changeOf returns by how much the usage that a quota counts under a name grows if a pod takes the place of another one, which it may not
// have counted, and whether the quota counts pods under this name.
func changeOf(name corev1.ResourceName, gone, next *pod.Pod, leaves bool) (more *resource.Quantity, counts bool) {
	for _, charge := range charges {
		if charge.name != name {
			continue
		}
		of := node.RequestsWith
		if charge.limit {
			of = node.LimitsWith
		}
		more = quantity(of(next, nil, false), charge.resource)
		counts = more.Sign() > 0
		if leaves {
			more.Sub(*quantity(of(gone, nil, false), charge.resource))
		}
		return more, counts
	}
	more = &resource.Quantity{}
	text := string(name)
	switch {
	case name == corev1.ResourcePods, text == "count/pods":
		if !leaves {
			more.Set(1)
		}
		return more, true
	case name == corev1.ResourceRequestsStorage: // Of claims.
		return more, false
	}
	// Ephemeral storage, huge pages and extended resources.
	return more, name == corev1.ResourceEphemeralStorage || strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix) || strings.HasPrefix(text, "limits.") || strings.HasPrefix(text, corev1.ResourceHugePagesPrefix)
}
