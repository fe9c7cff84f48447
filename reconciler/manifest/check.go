package manifest

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// check returns why the API server would reject the pod, as far as plans depend on that; nil
// if it would accept it.
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
				return fmt.Errorf("%s.name: %.64q: %s", path, c.Name, problems[0])
			}
			if seen[c.Name] {
				return fmt.Errorf("%s.name: duplicate name %q", path, c.Name)
			}
			seen[c.Name] = true
			if err := checkContainer(path, c); err != nil {
				return err
			}
		}
	}
	if err := checkAmounts("spec.overhead", spec.Overhead, nil); err != nil || spec.Resources == nil {
		return err
	}
	return checkResources("spec.resources", spec.Resources)
}

func checkContainer(path string, c *corev1.Container) error {
	policies := []corev1.ContainerRestartPolicy{corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever, corev1.ContainerRestartPolicyOnFailure}
	if p := c.RestartPolicy; p != nil && !slices.Contains(policies, *p) {
		return fmt.Errorf("%s.restartPolicy: %.64q is not one of %s", path, *p, policies)
	}
	restarts := []corev1.ResourceResizeRestartPolicy{corev1.NotRequired, corev1.RestartContainer}
	for i, p := range c.ResizePolicy {
		if !slices.Contains(restarts, p.RestartPolicy) {
			return fmt.Errorf("%s.resizePolicy[%d].restartPolicy: %.64q is not one of %s", path, i, p.RestartPolicy, restarts)
		}
	}
	return checkResources(path+".resources", &c.Resources)
}

func checkResources(path string, r *corev1.ResourceRequirements) error {
	if err := checkAmounts(path+".requests", r.Requests, r.Limits); err != nil {
		return err
	}
	return checkAmounts(path+".limits", r.Limits, nil)
}

// checkAmounts returns an error for the first amount, by name, that is negative or exceeds
// its limit.
func checkAmounts(path string, amounts, limits corev1.ResourceList) error {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		amount := amounts[name]
		if amount.Sign() < 0 {
			return fmt.Errorf("%s.%.64s: %s is negative", path, name, amount.String())
		}
		if limit, ok := limits[name]; ok && limit.Cmp(amount) < 0 {
			return fmt.Errorf("%s.%.64s: %s exceeds the limit of %s", path, name, amount.String(), limit.String())
		}
	}
	return nil
}
