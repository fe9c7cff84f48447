package manifest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// check returns why the API server would refuse the containers of a pod, as far as plans
// depend on it; nil if it would not.
func check(spec *corev1.PodSpec) error {
	if len(spec.Containers) == 0 {
		return fmt.Errorf("spec.containers must be set")
	}
	seen := map[string]bool{}
	for i, containers := range [...][]corev1.Container{spec.Containers, spec.InitContainers} {
		for j := range containers {
			c := &containers[j]
			path := fmt.Sprintf("spec.%s[%d]", [...]string{"containers", "initContainers"}[i], j)
			if problems := validation.IsDNS1123Label(c.Name); len(problems) > 0 {
				return fmt.Errorf("%s.name: %q: %s", path, c.Name, problems[0])
			}
			if seen[c.Name] {
				return fmt.Errorf("%s.name: %q is there twice", path, c.Name)
			}
			seen[c.Name] = true
			if err := checkAmounts(path+".resources", &c.Resources); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkAmounts(path string, r *corev1.ResourceRequirements) error {
	for name, request := range r.Requests {
		if request.Sign() < 0 {
			return fmt.Errorf("%s.requests.%s: %s is below 0", path, name, request.String())
		}
		if limit, ok := r.Limits[name]; ok && limit.Cmp(request) < 0 {
			return fmt.Errorf("%s.requests.%s: %s is above the limit, which is %s", path, name, request.String(), limit.String())
		}
	}
	for name, limit := range r.Limits {
		if limit.Sign() < 0 {
			return fmt.Errorf("%s.limits.%s: %s is below 0", path, name, limit.String())
		}
	}
	return nil
}
