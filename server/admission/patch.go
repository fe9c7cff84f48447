package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// operation is an operation of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// escape escapes a key for a path (RFC 6901).
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// patchOf returns the operations that turn a pod into one with other amounts and annotations. Amounts are neither added
// nor removed.
func patchOf(from, to *corev1.Pod) []operation {
	all := amounts("/spec/containers", from.Spec.Containers, to.Spec.Containers)
	all = append(all, amounts("/spec/initContainers", from.Spec.InitContainers, to.Spec.InitContainers)...)
	if from.Annotations == nil && len(to.Annotations) > 0 {
		return append(all, operation{Op: "add", Path: "/metadata/annotations", Value: to.Annotations})
	}
	for _, key := range slices.Sorted(maps.Keys(from.Annotations)) {
		if _, ok := to.Annotations[key]; !ok {
			all = append(all, operation{Op: "remove", Path: "/metadata/annotations/" + escape.Replace(key)})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(to.Annotations)) {
		if was, ok := from.Annotations[key]; !ok || was != to.Annotations[key] {
			all = append(all, operation{Op: "add", Path: "/metadata/annotations/" + escape.Replace(key), Value: to.Annotations[key]})
		}
	}
	return all
}

// amounts returns the operations that change the amounts of containers at a path.
func amounts(path string, from, to []corev1.Container) (all []operation) {
	for i := range from {
		for _, list := range [...]struct {
			name     string
			from, to corev1.ResourceList
		}{{"requests", from[i].Resources.Requests, to[i].Resources.Requests}, {"limits", from[i].Resources.Limits, to[i].Resources.Limits}} {
			for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				was, had := list.from[name]
				is, has := list.to[name]
				if had && has && was.Cmp(is) != 0 {
					all = append(all, operation{Op: "replace", Path: fmt.Sprintf("%s/%d/resources/%s/%s", path, i, list.name, name), Value: is.String()})
				}
			}
		}
	}
	return all
}
