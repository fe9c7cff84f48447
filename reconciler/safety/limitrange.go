package safety

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// outsideLimitRange predicts what the API server's LimitRanger
// (plugin/pkg/admission/limitranger) does to a resize. LimitRanger checks all sizes of the
// pod, even unchanged ones, and rejects sizes outside the range. It also adds its defaults to
// containers that lack a request or limit, which the resize must not do.
func (c *change) outsideLimitRange() string {
	for _, limitRange := range c.LimitRanges {
		for i := range limitRange.Spec.Limits {
			item := &limitRange.Spec.Limits[i]
			var text string
			switch item.Type {
			case corev1.LimitTypeContainer:
				text = c.containersOutside(item)
			case corev1.LimitTypePod:
				text = broken(item, func(name corev1.ResourceName) demand { return c.after.total(c.pod, name) })
			}
			if text != "" {
				return fmt.Sprintf("LimitRange %s: %s", limitRange.Name, text)
			}
		}
	}
	return ""
}

func (c *change) containersOutside(item *corev1.LimitRangeItem) string {
	for i, size := range c.after {
		container := &c.pod.Containers[i]
		of := func(name corev1.ResourceName) demand { return demandOf(container, size, name) }
		if text := added(item, of); text != "" {
			return fmt.Sprintf("container %s would get %s", container.Name(), text)
		}
		if text := broken(item, of); text != "" {
			return fmt.Sprintf("container %s: %s", container.Name(), text)
		}
	}
	return ""
}

// added returns the default that the container would get.
func added(item *corev1.LimitRangeItem, of func(corev1.ResourceName) demand) string {
	text := first(item.Default, func(name corev1.ResourceName, q resource.Quantity) string {
		if of(name).limited {
			return ""
		}
		return fmt.Sprintf("a limit of %s %s", q.String(), name)
	})
	if text != "" {
		return text
	}
	return first(item.DefaultRequest, func(name corev1.ResourceName, q resource.Quantity) string {
		if of(name).requested {
			return ""
		}
		return fmt.Sprintf("a request of %s %s", q.String(), name)
	})
}

// broken returns the constraint that the sizes violate.
func broken(item *corev1.LimitRangeItem, of func(corev1.ResourceName) demand) string {
	text := first(item.Min, func(name corev1.ResourceName, q resource.Quantity) string {
		return of(name).below(q).about("minimum %s usage per %s is %s", name, item.Type, q)
	})
	if text == "" {
		text = first(item.Max, func(name corev1.ResourceName, q resource.Quantity) string {
			return of(name).above(q).about("maximum %s usage per %s is %s", name, item.Type, q)
		})
	}
	if text == "" {
		text = first(item.MaxLimitRequestRatio, func(name corev1.ResourceName, q resource.Quantity) string {
			return of(name).apart(q).about("%s max limit to request ratio per %s is %s", name, item.Type, q)
		})
	}
	return text
}

// first returns the objection to the first resource in alphabetical order that has one, so
// the result does not depend on the order of the map.
func first(list corev1.ResourceList, objection func(corev1.ResourceName, resource.Quantity) string) (text string) {
	var of corev1.ResourceName
	for name, q := range list {
		if t := objection(name, q); t != "" && (text == "" || name < of) {
			text, of = t, name
		}
	}
	return text
}
