package sizing

import corev1 "k8s.io/api/core/v1"

// QOSClass returns the QoS class of a pod with these containers, init containers
// included, in one or more lists. Kubernetes determines the class from the cpu and memory
// of the whole pod: BestEffort if nothing is set, Guaranteed if every container has cpu
// and memory limits equal to its requests, and otherwise Burstable.
func QOSClass(lists ...[]Container) corev1.PodQOSClass {
	asks, guaranteed := false, true
	for _, containers := range lists {
		for _, c := range containers {
			for _, a := range [...]Amount{c.CPU, c.Memory} {
				asks = asks || a != Amount{}
				guaranteed = guaranteed && a.Limit != 0 && a.Request == a.Limit
			}
		}
	}
	switch {
	case !asks:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
