package podtest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Amounts are the cpu request, cpu limit, memory request and memory limit as quantities; ""
// for none.
type Amounts [4]string

// Requirements returns the amounts as an API object.
func (a Amounts) Requirements() corev1.ResourceRequirements {
	r := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for i, to := range []struct {
		list corev1.ResourceList
		name corev1.ResourceName
	}{{r.Requests, corev1.ResourceCPU}, {r.Limits, corev1.ResourceCPU}, {r.Requests, corev1.ResourceMemory}, {r.Limits, corev1.ResourceMemory}} {
		if a[i] != "" {
			to.list[to.name] = resource.MustParse(a[i])
		}
	}
	return r
}

// Container returns the amounts as the size of a container.
func (a Amounts) Container() sizing.Container { return sizing.FromResources(a.Requirements()) }

// Pod returns a running pod of a ReplicaSet with one container "app", after the changes.
func Pod(app Amounts, changes ...func(*corev1.Pod)) *corev1.Pod {
	controller := true
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "pod", UID: "uid", ResourceVersion: "7",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "rs", Controller: &controller}},
		},
		Spec:   corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "app", Resources: app.Requirements()}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

// Annotated adds annotations of the contract, given as pairs of a key without the prefix and
// a value.
func Annotated(pairs ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		for i := 0; i < len(pairs); i += 2 {
			p.Annotations[contract.Prefix+pairs[i]] = pairs[i+1]
		}
	}
}
