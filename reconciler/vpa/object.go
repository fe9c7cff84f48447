package vpa

import (
	"cmp"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Object is a VerticalPodAutoscaler, as far as workload-resizer needs it. It is immutable.
type Object struct {
	meta metav1.ObjectMeta
	// Target is what its target reference names.
	Target workload.Workload
	// Sizes is what the updater of the VerticalPodAutoscaler sizes.
	Sizes safety.VPA
	// Policy is what the object says about its target; nil unless it names Recommender.
	Policy *Policy
	// Status is the status of an object with a policy.
	Status Status
}

// From reads a VerticalPodAutoscaler. Fields of other types count as missing.
func From(o *unstructured.Unstructured) *Object {
	read := &Object{
		meta: metav1.ObjectMeta{
			Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
			Generation: o.GetGeneration(), CreationTimestamp: o.GetCreationTimestamp(),
		},
		Target: workload.Workload{Kind: textIn(o.Object, "spec", "targetRef", "kind"), Name: textIn(o.Object, "spec", "targetRef", "name")},
		Sizes:  sizesOf(o),
	}
	if read.Policy = readPolicy(o, &read.Sizes); read.Policy != nil {
		read.Status = statusOf(o)
	}
	return read
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, which caches use to identify objects.
func (o *Object) GetObjectMeta() metav1.Object { return &o.meta }

// Namespace returns the namespace of the object.
func (o *Object) Namespace() string { return o.meta.Namespace }

// UID returns the UID of the object.
func (o *Object) UID() types.UID { return o.meta.UID }

// Name returns the name of the object.
func (o *Object) Name() string { return o.meta.Name }

// Compare orders objects as the updater does if several have the same target: only the first one counts.
func (o *Object) Compare(other *Object) int {
	return cmp.Or(o.meta.CreationTimestamp.Compare(other.meta.CreationTimestamp.Time), cmp.Compare(o.meta.Name, other.meta.Name))
}

// SaysAs reports whether two states of an object say the same about their target. Nil does not exist, and says nothing.
func (o *Object) SaysAs(other *Object) bool {
	policy := func(o *Object) *Policy {
		if o == nil {
			return nil
		}
		return o.Policy
	}
	a, b := policy(o), policy(other)
	return a == nil && b == nil || a != nil && b != nil && o.Target == other.Target && reflect.DeepEqual(a, b)
}

// sizesOf returns what the updater sizes.
func sizesOf(o *unstructured.Unstructured) safety.VPA {
	read := safety.VPA{Name: o.GetName(), Active: safety.VPAActive(textIn(o.Object, "spec", "updatePolicy", "updateMode"))}
	_, read.Boosts, _ = unstructured.NestedFieldNoCopy(o.Object, "spec", "startupBoost", "cpu")
	for _, policy := range policiesOf(o) {
		_, boosts, _ := unstructured.NestedFieldNoCopy(policy, "startupBoost", "cpu")
		read.Boosts = read.Boosts || boosts
		resources, _, _ := unstructured.NestedStringSlice(policy, "controlledResources")
		read.Policies = append(read.Policies, safety.VPAPolicy{
			Container: textIn(policy, "containerName"), Off: textIn(policy, "mode") == off, Resources: resources,
		})
	}
	return read
}

// policiesOf returns the policies for containers.
func policiesOf(o *unstructured.Unstructured) []map[string]any {
	return listIn(o.Object, "spec", "resourcePolicy", "containerPolicies")
}

// listIn returns a field that is a list of objects. Items of other types are nil.
func listIn(o map[string]any, path ...string) (all []map[string]any) {
	field, _, _ := unstructured.NestedFieldNoCopy(o, path...)
	list, _ := field.([]any)
	for i := range list {
		item, _ := list[i].(map[string]any)
		all = append(all, item)
	}
	return all
}

// textIn returns a string field; empty if it is missing or has another type.
func textIn(o map[string]any, path ...string) string {
	text, _, _ := unstructured.NestedString(o, path...)
	return text
}
