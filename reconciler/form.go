package reconciler

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// form is a pod without what is its own.
type form struct{ corev1.Pod }

// clear takes away what is the pod's own.
func (f *form) clear() {
	f.Namespace, f.Name, f.UID, f.DeletionTimestamp, f.Spec.NodeName = "", "", "", nil, ""
	f.Labels, f.Annotations, f.Generation, f.Status.ObservedGeneration = nil, nil, 0, 0
	cloneOwners(&f.Pod)
	for text := range ownTexts(&f.Pod) {
		*text = ""
	}
	for list := range ownAmounts(&f.Pod) {
		*list = nil
	}
	for i := range f.ManagedFields {
		f.ManagedFields[i].Time = nil
	}
}

// cloneOwners gives the pod whatever has something that is its own.
func cloneOwners(pod *corev1.Pod) {
	pod.OwnerReferences, pod.ManagedFields = slices.Clone(pod.OwnerReferences), slices.Clone(pod.ManagedFields)
	pod.Spec.Containers, pod.Spec.InitContainers = slices.Clone(pod.Spec.Containers), slices.Clone(pod.Spec.InitContainers)
	pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses = slices.Clone(pod.Status.ContainerStatuses), slices.Clone(pod.Status.InitContainerStatuses)
	for status := range statusesOf(pod) {
		if status.Resources != nil {
			status.Resources = new(*status.Resources)
		}
	}
}

// ownTexts are the pod's own. Containers are often called as their workload is.
func ownTexts(pod *corev1.Pod) iter.Seq[*string] {
	return func(yield func(*string) bool) {
		if !yield(&pod.ResourceVersion) {
			return
		}
		for i := range pod.OwnerReferences {
			if o := &pod.OwnerReferences[i]; !yield(&o.Name) || !yield((*string)(&o.UID)) {
				return
			}
		}
		for c := range containersOf(pod) {
			if !yield(&c.Name) {
				return
			}
		}
		for status := range statusesOf(pod) {
			if !yield(&status.Name) {
				return
			}
		}
	}
}

// containersOf are all containers of the pod.
func containersOf(pod *corev1.Pod) iter.Seq[*corev1.Container] {
	return elementsOf(pod.Spec.Containers, pod.Spec.InitContainers)
}

// isController reports whether an owner is the controller.
func isController(owner metav1.OwnerReference) bool {
	return owner.Controller != nil && *owner.Controller
}

// statusesOf are those of all containers of the pod.
func statusesOf(pod *corev1.Pod) iter.Seq[*corev1.ContainerStatus] {
	return elementsOf(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses)
}

func elementsOf[T any](slices ...[]T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, elements := range slices {
			for i := range elements {
				if !yield(&elements[i]) {
					return
				}
			}
		}
	}
}

// untimed stands for an entry of managedFields that has no time.
const untimed = -1 << 63

// pack packs what is the pod's own and has no place in keptPod, but for the keys of
// maps, which it packs apart. The resource version comes first.
func pack(pod *corev1.Pod) (*keys, unpacker) {
	var p packer
	for text := range ownTexts(pod) {
		p.text(*text)
	}
	p.number(pod.Generation)
	p.number(pod.Status.ObservedGeneration)
	for i := range pod.ManagedFields {
		m, seconds := &pod.ManagedFields[i], int64(untimed)
		if m.Time != nil {
			seconds = m.Time.Unix()
		}
		p.number(seconds)
	}
	m := mapPacker{pod: pod, values: &p}
	packAll(&m, pod.Labels, itself)
	packAll(&m, pod.Annotations, itself)
	packAmounts(&m)
	return &keys{string(m.keys.packed)}, unpacker{string(p.packed), p.long}
}

// into unpacks what pack has packed, and returns what unpacks the amounts.
func (u unpacker) into(pod *corev1.Pod, keys *keys) *mapUnpacker {
	cloneOwners(pod)
	for text := range ownTexts(pod) {
		*text = u.text()
	}
	pod.Generation, pod.Status.ObservedGeneration = u.number(), u.number()
	times := make([]metav1.Time, len(pod.ManagedFields))
	for i := range pod.ManagedFields {
		m := &pod.ManagedFields[i]
		if at := u.number(); at != untimed {
			times[i] = metav1.Unix(at, 0)
			m.Time = &times[i]
		}
	}
	m := mapUnpacker{pod, unpacker{packed: keys.packed}, &u}
	pod.Labels, pod.Annotations = unpackAll[string](&m, itself), unpackAll[string](&m, itself)
	return &m
}
