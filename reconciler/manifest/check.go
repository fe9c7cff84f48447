package manifest

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// check returns why the API server would reject a pod whose spec is at a path, as far as plans depend on
// that; nil if it would accept it.
func check(at string, spec *corev1.PodSpec) *fault {
	if len(spec.Containers) == 0 {
		return &fault{path: at + ".containers", problem: "must be set"}
	}
	seen := map[string]bool{}
	for i, containers := range [...][]corev1.Container{spec.Containers, spec.InitContainers} {
		for j := range containers {
			c := &containers[j]
			path := fmt.Sprintf("%s.%s[%d]", at, [...]string{"containers", "initContainers"}[i], j)
			if problems := validation.IsDNS1123Label(c.Name); len(problems) > 0 {
				return &fault{path: path + ".name", problem: fmt.Sprintf("%.64q: %s", c.Name, problems[0])}
			}
			if seen[c.Name] {
				return &fault{path: path + ".name", problem: fmt.Sprintf("duplicate name %q", c.Name)}
			}
			seen[c.Name] = true
			if err := checkContainer(path, c); err != nil {
				return err
			}
		}
	}
	if err := checkAmounts(at+".overhead", spec.Overhead, nil); err != nil || spec.Resources == nil {
		return err
	}
	return checkResources(at+".resources", spec.Resources)
}

func checkContainer(path string, c *corev1.Container) *fault {
	policies := []corev1.ContainerRestartPolicy{corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure}
	if p := c.RestartPolicy; p != nil && !slices.Contains(policies, *p) {
		return &fault{path: path + ".restartPolicy", problem: fmt.Sprintf("%.64q is not one of %s", *p, policies)}
	}
	restarts := []corev1.ResourceResizeRestartPolicy{corev1.NotRequired, corev1.RestartContainer}
	for i, p := range c.ResizePolicy {
		if !slices.Contains(restarts, p.RestartPolicy) {
			return &fault{path: fmt.Sprintf("%s.resizePolicy[%d].restartPolicy", path, i), problem: fmt.Sprintf("%.64q is not one of %s", p.RestartPolicy, restarts)}
		}
	}
	return checkResources(path+".resources", &c.Resources)
}

func checkResources(path string, r *corev1.ResourceRequirements) *fault {
	if err := checkAmounts(path+".requests", r.Requests, r.Limits); err != nil {
		return err
	}
	return checkAmounts(path+".limits", r.Limits, nil)
}

// checkAmounts returns an error for the first amount, by name, that is negative or exceeds
// its limit.
func checkAmounts(path string, amounts, limits corev1.ResourceList) *fault {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		amount := amounts[name]
		if amount.Sign() < 0 {
			return &fault{path: fmt.Sprintf("%s.%.64s", path, name), problem: amount.String() + " is negative"}
		}
		if limit, ok := limits[name]; ok && limit.Cmp(amount) < 0 {
			return &fault{path: fmt.Sprintf("%s.%.64s", path, name), problem: fmt.Sprintf("%s exceeds the limit of %s", amount.String(), limit.String())}
		}
	}
	return nil
}
