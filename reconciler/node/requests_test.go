package node

import (
	"maps"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestRequests(t *testing.T) {
	t.Run("computes requests and limits like the scheduler", computesRequestsAndLimitsLikeTheScheduler)
}

// The functions of Kubernetes are the oracle for how containers add up; the test computes
// what each container counts with.
func computesRequestsAndLimitsLikeTheScheduler(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	list := func() corev1.ResourceList {
		r := corev1.ResourceList{}
		if random.IntN(4) > 0 {
			r[corev1.ResourceCPU] = *resource.NewMilliQuantity(random.Int64N(4000), resource.DecimalSI)
		}
		if random.IntN(4) > 0 {
			r[corev1.ResourceMemory] = *resource.NewQuantity(random.Int64N(1<<33), resource.BinarySI)
		}
		return r
	}
	most := func(lists ...corev1.ResourceList) corev1.ResourceList {
		r := corev1.ResourceList{}
		for _, l := range lists {
			for name, q := range l {
				if has, ok := r[name]; !ok || q.Cmp(has) > 0 {
					r[name] = q
				}
			}
		}
		return r
	}
	always := corev1.ContainerRestartPolicyAlways
	for range 2000 {
		p, counted := &corev1.Pod{}, &corev1.Pod{}
		refused := random.IntN(3) == 0
		if refused {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}}
		}
		add := func(name string, sidecar, init bool) {
			c := corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: list(), Limits: list()}}
			if sidecar {
				c.RestartPolicy = &always
			}
			as := c
			if (sidecar || !init) && random.IntN(2) == 0 {
				s := corev1.ContainerStatus{Name: name, Resources: &corev1.ResourceRequirements{Requests: list(), Limits: list()}, AllocatedResources: list()}
				as.Resources.Requests, as.Resources.Limits = most(s.Resources.Requests, s.AllocatedResources), s.Resources.Limits
				if !refused {
					as.Resources.Requests, as.Resources.Limits = most(as.Resources.Requests, c.Resources.Requests), most(as.Resources.Limits, c.Resources.Limits)
				}
				if init {
					p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, s)
				} else {
					p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
				}
			}
			if init {
				p.Spec.InitContainers, counted.Spec.InitContainers = append(p.Spec.InitContainers, c), append(counted.Spec.InitContainers, as)
			} else {
				p.Spec.Containers, counted.Spec.Containers = append(p.Spec.Containers, c), append(counted.Spec.Containers, as)
			}
		}
		for i := range 1 + random.IntN(3) {
			add(string(rune('a'+i)), false, false)
		}
		for i := range random.IntN(4) {
			add(string(rune('p'+i)), random.IntN(2) == 0, true)
		}
		if random.IntN(4) == 0 {
			p.Spec.Overhead = list()
		}
		if random.IntN(4) == 0 {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: list(), Limits: list()}
			// Pod-level resources must not be less than the resources of the containers.
			for _, l := range []corev1.ResourceList{p.Spec.Resources.Requests, p.Spec.Resources.Limits} {
				maps.DeleteFunc(l, func(_ corev1.ResourceName, q resource.Quantity) bool { return q.IsZero() })
			}
		}
		counted.Spec.Overhead, counted.Spec.Resources = p.Spec.Overhead, p.Spec.Resources
		sum := sizing.FromResources(corev1.ResourceRequirements{
			Requests: resourcehelper.PodRequests(counted, resourcehelper.PodResourcesOptions{}),
			Limits:   resourcehelper.PodLimits(counted, resourcehelper.PodResourcesOptions{}),
		})
		if got, want := Requests(pod.From(p)), (Resources{sum.CPU.Request, sum.Memory.Request}); got != want {
			t.Fatalf("requests %v, want %v of %+v", got, want, p)
		}
		if got, want := LimitsWith(pod.From(p), nil, refused), (Resources{sum.CPU.Limit, sum.Memory.Limit}); got != want {
			t.Fatalf("limits %v, want %v of %+v", got, want, p)
		}
	}
}
