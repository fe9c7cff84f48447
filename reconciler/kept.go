package reconciler

import (
	"fmt"
	"iter"
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// keptPod is what the cache holds of a pod: what it has for itself, packed, and what
// it has in common with others, of its workload or any other. Pods differ in names and
// in the values of labels and annotations, but hardly in anything else that plans are
// made from; a hundred thousand of them fit in little memory if the rest is there
// once. Which labels and annotations tell pods of a workload apart cannot be known, as
// who writes them is free to, so none is taken for shared.
type keptPod struct {
	// form and keys are shared with other pods. Nobody changes them.
	form            *form
	keys            *keys
	namespace, node unique.Handle[string]
	// name and uid are not packed: others keep them for longer than this.
	name     string
	uid      types.UID
	deletion *metav1.Time
	// own is the rest, in the order of pack.
	own unpacker
}

// form is a pod without what is its own.
type form struct{ corev1.Pod }

// untimed stands for an entry of managedFields that has no time.
const untimed = -1 << 63

// keep splits a trimmed pod.
func (s *stock) keep(pod *corev1.Pod) (*keptPod, error) {
	shared := &form{*pod}
	shared.Namespace, shared.Name, shared.UID, shared.ResourceVersion, shared.Generation, shared.DeletionTimestamp = "", "", "", "", 0, nil
	shared.Labels, shared.Annotations, shared.Spec.NodeName, shared.Status.ObservedGeneration = nil, nil, "", 0
	shared.OwnerReferences = slices.Clone(pod.OwnerReferences)
	for i := range shared.OwnerReferences {
		shared.OwnerReferences[i].Name, shared.OwnerReferences[i].UID = "", ""
	}
	shared.ManagedFields = slices.Clone(pod.ManagedFields)
	for i := range shared.ManagedFields {
		shared.ManagedFields[i].Time = nil
	}
	// Equal pods have equal encodings: maps are encoded in order.
	encoded, err := shared.Marshal()
	if err != nil {
		return nil, fmt.Errorf("keep pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	keys := &keys{sortedKeys(pod.Labels), sortedKeys(pod.Annotations)}
	return &keptPod{
		form: s.forms.share(encoded, shared), keys: s.keys.share(keys.encode(), keys),
		namespace: unique.Make(pod.Namespace), node: unique.Make(pod.Spec.NodeName),
		name: pod.Name, uid: pod.UID, deletion: pod.DeletionTimestamp,
		own: pack(pod, keys),
	}, nil
}

// pack packs what a pod shares with no other.
func pack(pod *corev1.Pod, keys *keys) unpacker {
	var p packer
	p.text(pod.ResourceVersion)
	p.number(pod.Generation)
	p.number(pod.Status.ObservedGeneration)
	for i := range pod.OwnerReferences {
		p.text(pod.OwnerReferences[i].Name)
		p.text(string(pod.OwnerReferences[i].UID))
	}
	for i := range pod.ManagedFields {
		seconds := int64(untimed)
		if at := pod.ManagedFields[i].Time; at != nil {
			seconds = at.Unix()
		}
		p.number(seconds)
	}
	for _, key := range keys.labels {
		p.text(pod.Labels[key])
	}
	for _, key := range keys.annotations {
		p.text(pod.Annotations[key])
	}
	return unpacker{string(p.packed), p.long}
}

// pod puts the pod together again. It shares most of it with others: nobody
// changes it.
func (k *keptPod) pod() *corev1.Pod {
	pod, own := k.form.Pod, k.own
	pod.Namespace, pod.Name, pod.UID, pod.DeletionTimestamp, pod.Spec.NodeName = k.namespace.Value(), k.name, k.uid, k.deletion, k.node.Value()
	pod.ResourceVersion, pod.Generation, pod.Status.ObservedGeneration = own.text(), own.number(), own.number()
	pod.OwnerReferences = slices.Clone(pod.OwnerReferences)
	for i := range pod.OwnerReferences {
		pod.OwnerReferences[i].Name, pod.OwnerReferences[i].UID = own.text(), types.UID(own.text())
	}
	pod.ManagedFields = slices.Clone(pod.ManagedFields)
	times := make([]metav1.Time, len(pod.ManagedFields))
	for i := range times {
		if at := own.number(); at != untimed {
			times[i] = metav1.Unix(at, 0)
			pod.ManagedFields[i].Time = &times[i]
		}
	}
	pod.Labels, pod.Annotations = own.texts(k.keys.labels), own.texts(k.keys.annotations)
	return &pod
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, by which caches know objects. It
// has no labels, which take longer than the rest: podLister has them.
func (k *keptPod) GetObjectMeta() metav1.Object {
	own := k.own
	return &metav1.ObjectMeta{Namespace: k.namespace.Value(), Name: k.name, UID: k.uid, ResourceVersion: own.text()}
}

// podOf returns the pod that a cache holds, nil if it is none.
func podOf(obj any) *corev1.Pod {
	switch o := obj.(type) {
	case *keptPod:
		return o.pod()
	case *corev1.Pod:
		return o
	}
	return nil
}

// everyPod are all pods there are, one at a time.
func (r *Reconciler) everyPod() iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for _, obj := range r.podIndex.List() {
			if !yield(podOf(obj)) {
				return
			}
		}
	}
}
