package reconciler

import (
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ownAmounts are the pod's own: in a large cluster there are as many different ones as
// there are workloads, and by node type as well.
func ownAmounts(pod *corev1.Pod) iter.Seq[*corev1.ResourceList] {
	return func(yield func(*corev1.ResourceList) bool) {
		for c := range containersOf(pod) {
			if !yield(&c.Resources.Requests) || !yield(&c.Resources.Limits) {
				return
			}
		}
		for status := range statusesOf(pod) {
			if !yield(&status.AllocatedResources) {
				return
			}
			if r := status.Resources; r != nil && (!yield(&r.Requests) || !yield(&r.Limits)) {
				return
			}
		}
	}
}

// unlike stands for amounts that are not those of an earlier list.
const unlike = -1

// packAmounts packs the pod's own amounts. Lists that are the same, as those of a
// container and its status are most of the time, are packed once, and are one map when
// they are unpacked: each takes more than half a KiB.
func packAmounts(p *mapPacker) {
	var before []corev1.ResourceList
	for list := range ownAmounts(p.pod) {
		like := slices.IndexFunc(before, func(other corev1.ResourceList) bool { return len(other) > 0 && same(other, *list) })
		p.keys.number(int64(like))
		if like == unlike {
			packAll(p, *list, func(q resource.Quantity) string { return q.String() })
		}
		before = append(before, *list)
	}
}

// unpackAmounts unpacks what packAmounts has packed.
func unpackAmounts(u *mapUnpacker) {
	var before []corev1.ResourceList
	for list := range ownAmounts(u.pod) {
		if like := u.keys.number(); like == unlike {
			*list = unpackAll[corev1.ResourceName](u, resource.MustParse)
		} else {
			*list = before[like]
		}
		before = append(before, *list)
	}
}

func same(a, b corev1.ResourceList) bool { return maps.EqualFunc(a, b, resource.Quantity.Equal) }
