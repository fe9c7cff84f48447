package creation

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/seal"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// set replaces a request or limit of a container, if it has one.
func set(c *corev1.Container, which contract.Original, to int64) {
	m, list := sizing.MeasureOf(which), c.Resources.Limits
	if which == which.OfRequest() {
		list = c.Resources.Requests
	}
	if _, ok := list[corev1.ResourceName(m.Name)]; ok {
		list[corev1.ResourceName(m.Name)] = resource.MustParse(m.Text(to))
	}
}

// containers returns the containers of a pod by name, init containers included.
func containers(of *corev1.Pod) map[string]*corev1.Container {
	all := map[string]*corev1.Container{}
	for _, list := range [...][]corev1.Container{of.Spec.Containers, of.Spec.InitContainers} {
		for i := range list {
			all[list[i].Name] = &list[i]
		}
	}
	return all
}

// authored gives a pod what its author wrote: the sizes that the server gave it when it was asked before, unless somebody
// has changed them since, and no record that describes another pod. Originals stay that say what the spec says.
func authored(of *corev1.Pod, keys *seal.Ring, now time.Time) {
	all := containers(of)
	for _, sizes := range given(of, keys, now) {
		if c := all[sizes.Name]; c != nil {
			takeBack(c, &sizes)
		}
	}
	written := map[string]string{}
	for _, c := range containers(of) {
		has := sizing.FromResources(c.Resources)
		for _, which := range contract.Originals {
			if amount := has.Amount(which); amount != 0 {
				written[which.Key(c.Name)] = sizing.MeasureOf(which).Text(amount)
			}
		}
	}
	maps.DeleteFunc(of.Annotations, func(key, text string) bool {
		return contract.Ours(key) && (!contract.IsOriginal(key) || !equal(written[key], text))
	})
}

// given returns the sizes that the server gave a pod when it was asked before; none if nothing proves that.
func given(of *corev1.Pod, keys *seal.Ring, now time.Time) pod.AppliedSizes {
	text, ok := of.Annotations[contract.CreatedSizes]
	if !ok {
		return nil
	}
	made, err := keys.Open(seal.SubjectOf(&of.ObjectMeta, of.Namespace), text, now)
	if err != nil {
		return nil
	}
	return pod.ParseAppliedSizes(made.Sizes)
}

// raises reports whether another controller has raised cpu that the server gave a pod before, and will lower it to that. Only
// the record of the server says what its author wrote, so it must stay as it is.
func raises(of *corev1.Pod, keys *seal.Ring, now time.Time) bool {
	sizes := given(of, keys, now)
	if sizes == nil {
		return false
	}
	read := pod.BeingCreated(of, "", now)
	for i := range read.Containers {
		c := &read.Containers[i]
		was, _ := sizes.Of(c.Name(), i)
		for _, which := range [...]contract.Original{contract.CPURequest, contract.CPULimit} {
			if _, lowered := c.Raised(which); lowered != 0 && lowered == was.To.Amount(which) && lowered != was.From.Amount(which) {
				return true
			}
		}
	}
	return false
}

// takeBack gives a container what it had before the server gave it these sizes.
func takeBack(c *corev1.Container, sizes *pod.ContainerSizes) {
	has := sizing.FromResources(c.Resources)
	for _, which := range contract.Originals {
		if from, to := sizes.From.Amount(which), sizes.To.Amount(which); from != to && from != 0 && has.Amount(which) == to {
			set(c, which, from)
		}
	}
}

// equal reports whether two texts are the same quantity.
func equal(a, b string) bool {
	first, err := sizing.Quantity(a)
	second, other := sizing.Quantity(b)
	return err == nil && other == nil && first.Cmp(second) == 0
}

// describes reports whether a record, once it is read again, says exactly what a plan changes.
func describes(record string, p *plan.Plan) bool {
	read := pod.ParseAppliedSizes(record)
	if len(read) != len(p.Containers) {
		return false
	}
	for i := range p.Containers {
		c, said := &p.Containers[i], &read[i]
		if said.Name != c.Name {
			return false
		}
		for _, m := range sizing.Measures {
			from, to := *m.Of(&c.Current), *m.Of(&c.Desired)
			if to.Request == 0 {
				from, to = sizing.Amount{}, sizing.Amount{} // It is not recorded.
			}
			if *m.Of(&said.From) != from || *m.Of(&said.To) != to {
				return false
			}
		}
	}
	return true
}

// apply gives a pod the sizes of its plan.
func apply(to *corev1.Pod, p *plan.Plan) {
	all := containers(to)
	for i := range p.Containers {
		planned := &p.Containers[i]
		c := all[planned.Name]
		for _, which := range contract.Originals {
			if to := planned.Desired.Amount(which); to != planned.Current.Amount(which) {
				set(c, which, to)
			}
		}
	}
}

// sameOrder reports whether the requests of two versions of a pod compare with their limits in the same way, exactly: the QoS
// class depends on that. Plans know amounts only as far as a machine has them, in millicores and bytes.
func sameOrder(a, b *corev1.Pod) bool {
	others := containers(b)
	for name, c := range containers(a) {
		for _, of := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			before, limited := c.Resources.Limits[of]
			after := others[name].Resources.Limits[of]
			if limited && before.Cmp(c.Resources.Requests[of]) != after.Cmp(others[name].Resources.Requests[of]) {
				return false
			}
		}
	}
	return true
}

// sameSizesAndRecord reports whether two versions of a pod have the same sizes and annotations.
func sameSizesAndRecord(a, b *corev1.Pod) bool {
	others := containers(b)
	for name, c := range containers(a) {
		if sizing.FromResources(c.Resources) != sizing.FromResources(others[name].Resources) {
			return false
		}
	}
	return maps.Equal(a.Annotations, b.Annotations)
}
