package manifest

import corev1 "k8s.io/api/core/v1"

// setDefaults sets the requests of a new pod as the API server does: a missing request
// defaults to the limit.
func setDefaults(spec *corev1.PodSpec) {
	for _, containers := range [...][]corev1.Container{spec.Containers, spec.InitContainers} {
		for i := range containers {
			r := &containers[i].Resources
			for name, limit := range r.Limits {
				if _, ok := r.Requests[name]; ok {
					continue
				}
				if r.Requests == nil {
					r.Requests = corev1.ResourceList{}
				}
				r.Requests[name] = limit.DeepCopy()
			}
		}
	}
}
