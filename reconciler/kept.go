package reconciler

import (
	"fmt"
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
	// own is the rest, as pack has it.
	own unpacker
}

// keep splits a trimmed pod.
func (s *stock) keep(pod *corev1.Pod) (*keptPod, error) {
	keys, own := pack(pod)
	kept := &keptPod{
		namespace: unique.Make(pod.Namespace), node: unique.Make(pod.Spec.NodeName),
		name: pod.Name, uid: pod.UID, deletion: pod.DeletionTimestamp,
		keys: s.keys.share([]byte(keys.packed), keys), own: own,
	}
	shared := &form{*pod}
	shared.clear()
	// Equal pods have equal encodings: maps are encoded in order.
	encoded, err := shared.Marshal()
	if err != nil {
		return nil, fmt.Errorf("keep pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	kept.form = s.forms.share(encoded, shared)
	return kept, nil
}

// pod puts the pod together again. It shares most of it with others: nobody
// changes it.
func (k *keptPod) pod() *corev1.Pod {
	pod, amounts := k.unpack()
	unpackAmounts(amounts)
	return pod
}

// withoutAmounts is the pod, but for the amounts that its containers ask for and have,
// which take half the time: enough to tell which rules are for it, and not to plan.
func (k *keptPod) withoutAmounts() *corev1.Pod {
	pod, _ := k.unpack()
	return pod
}

func (k *keptPod) unpack() (*corev1.Pod, *mapUnpacker) {
	pod := k.form.Pod
	pod.Namespace, pod.Name, pod.UID, pod.DeletionTimestamp, pod.Spec.NodeName = k.namespace.Value(), k.name, k.uid, k.deletion, k.node.Value()
	amounts := k.own.into(&pod, k.keys)
	return &pod, amounts
}

func (k *keptPod) namespacedName() types.NamespacedName {
	return types.NamespacedName{Namespace: k.namespace.Value(), Name: k.name}
}

// controller is the uid of the pod's controller, empty if it has none. It is part of what
// is kept.
func (k *keptPod) controller() types.UID {
	owners := k.form.OwnerReferences
	own := k.own
	own.text() // The resource version.
	for i := range owners {
		own.text() // The owner's name.
		if uid := own.text(); isController(owners[i]) {
			return types.UID(uid)
		}
	}
	return ""
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, by which caches know objects. It
// has no labels, which take longer than the rest.
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
