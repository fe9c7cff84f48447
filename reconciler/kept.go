package reconciler

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"maps"
	"slices"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// keptPod is what the cache holds of a pod: what it has for itself, and what it has
// in common with others. Pods are made from templates, so that most of them differ
// in little more than their names; a hundred thousand of them fit in little memory
// if the rest is there once.
type keptPod struct {
	// like is the rest, which many pods share. Nobody changes it.
	like            *corev1.Pod
	name            string
	uid             types.UID
	resourceVersion string
	node            string
	appliedAt       string
	generation      int64
	deletion        *metav1.Time
	// times are those of the managedFields, in Unix seconds.
	times []int64
}

// untimed stands for an entry of managedFields that has no time.
const untimed = -1 << 63

// keep splits a trimmed pod.
func (s *stock) keep(pod *corev1.Pod) (*keptPod, error) {
	k := &keptPod{
		name: pod.Name, uid: pod.UID, resourceVersion: pod.ResourceVersion, generation: pod.Generation, deletion: pod.DeletionTimestamp,
		node: unique.Make(pod.Spec.NodeName).Value(), appliedAt: pod.Annotations[contract.AppliedAt],
	}
	rest := *pod
	rest.Name, rest.UID, rest.ResourceVersion, rest.Generation, rest.DeletionTimestamp, rest.Spec.NodeName = "", "", "", 0, nil, ""
	if k.appliedAt != "" {
		rest.Annotations = maps.Clone(pod.Annotations)
		delete(rest.Annotations, contract.AppliedAt)
	}
	if len(pod.ManagedFields) > 0 {
		k.times = make([]int64, len(pod.ManagedFields))
		rest.ManagedFields = slices.Clone(pod.ManagedFields)
		for i := range rest.ManagedFields {
			k.times[i] = untimed
			if at := rest.ManagedFields[i].Time; at != nil {
				k.times[i] = at.Unix()
			}
			rest.ManagedFields[i].Time = nil
		}
	}
	// Equal pods have equal encodings: maps are encoded in order.
	encoded, err := rest.Marshal()
	if err != nil {
		return nil, fmt.Errorf("keep pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	k.like = s.share(sha256.Sum256(encoded), &rest)
	return k, nil
}

// pod puts the pod together again. It shares most of it with others: nobody
// changes it.
func (k *keptPod) pod() *corev1.Pod {
	pod := *k.like
	pod.Name, pod.UID, pod.ResourceVersion, pod.Generation, pod.DeletionTimestamp, pod.Spec.NodeName = k.name, k.uid, k.resourceVersion, k.generation, k.deletion, k.node
	if k.appliedAt != "" {
		pod.Annotations = make(map[string]string, len(k.like.Annotations)+1)
		maps.Copy(pod.Annotations, k.like.Annotations)
		pod.Annotations[contract.AppliedAt] = k.appliedAt
	}
	pod.ManagedFields = slices.Clone(k.like.ManagedFields)
	times := make([]metav1.Time, len(k.times))
	for i, at := range k.times {
		if at != untimed {
			times[i] = metav1.Unix(at, 0)
			pod.ManagedFields[i].Time = &times[i]
		}
	}
	return &pod
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, by which caches know objects.
func (k *keptPod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: k.like.Namespace, Name: k.name, UID: k.uid, ResourceVersion: k.resourceVersion, Labels: k.like.Labels}
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
