package applied

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// observer follows the pods of the workloads.
type observer struct {
	mu   sync.Mutex
	pods map[types.UID]*course
	// changed is when a pod was last seen to change.
	changed time.Time
}

// course is what became of a pod.
type course struct {
	pod *corev1.Pod
	// class is its first QoS class, and wrote what its author wrote for the container app, as text.
	class corev1.PodQOSClass
	wrote string
	// ran is when it was first seen to run, and sizes has when it had which request of CPU.
	ran   time.Time
	sizes []sizeAt
}

type sizeAt struct {
	at  time.Time
	cpu float64
}

// observe starts to follow all pods.
func observe(t *testing.T, client kubernetes.Interface) *observer {
	t.Helper()
	o := &observer{pods: map[types.UID]*course{}}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	if _, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { o.see(obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { o.see(obj.(*corev1.Pod)) },
		DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			delete(o.pods, obj.(*corev1.Pod).UID)
		},
	}); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	return o
}

func (o *observer) see(p *corev1.Pod) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.pods[p.UID]
	if c == nil {
		c = &course{class: p.Status.QOSClass, wrote: resourcesOf(&p.Spec.Containers[0])}
		o.pods[p.UID] = c
	}
	c.pod, o.changed = p, time.Now()
	if c.ran.IsZero() && p.Status.Phase == corev1.PodRunning {
		c.ran = time.Now()
	}
	cpu := p.Spec.Containers[0].Resources.Requests.Cpu().AsApproximateFloat64()
	if n := len(c.sizes); n == 0 || c.sizes[n-1].cpu != cpu {
		c.sizes = append(c.sizes, sizeAt{time.Now(), cpu})
	}
}

// all returns the pods that are not being deleted, as they are now.
func (o *observer) all() (all []course) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, uid := range slices.Sorted(maps.Keys(o.pods)) {
		if c := o.pods[uid]; c.pod.DeletionTimestamp == nil {
			of := *c
			of.sizes = slices.Clone(c.sizes)
			all = append(all, of)
		}
	}
	return all
}

// await waits until there are this many pods, and a function finds nothing wrong with any of them.
func (o *observer) await(t *testing.T, what string, wrong func(*course) error, n int) {
	t.Helper()
	localcluster.Eventually(t, what, func() error {
		all := o.all()
		for i := range all {
			if err := wrong(&all[i]); err != nil {
				return fmt.Errorf("pod %s: %w", all[i].pod.Name, err)
			}
		}
		if len(all) != n {
			return fmt.Errorf("%d pods, not %d", len(all), n)
		}
		return nil
	})
}

// calm reports whether nothing has changed for a while, and nodes have completed all resizes.
func (o *observer) calm(since time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.changed) < since {
		return false
	}
	for _, c := range o.pods {
		for i := range c.pod.Status.ContainerStatuses {
			of := &c.pod.Spec.Containers[i]
			if s := &c.pod.Status.ContainerStatuses[i]; s.Name == of.Name && s.Resources != nil && resourcesOf(of) != resourcesOf(&corev1.Container{Resources: *s.Resources}) {
				return false
			}
		}
	}
	return true
}

// tally counts the pods by what was resized.
func (o *observer) tally() string {
	lowered, raised, kept := 0, 0, 0
	for _, c := range o.all() {
		switch first, last := c.sizes[0].cpu, c.sizes[len(c.sizes)-1].cpu; {
		case last < first:
			lowered++
		case last > first:
			raised++
		default:
			kept++
		}
	}
	return fmt.Sprintf("cpu lowered %d, raised %d, kept %d", lowered, raised, kept)
}

func (c *course) runs() error {
	if c.pod.Status.Phase != corev1.PodRunning {
		return fmt.Errorf("it is %s", c.pod.Status.Phase)
	}
	for _, s := range c.pod.Status.ContainerStatuses {
		if !s.Ready {
			return fmt.Errorf("container %s is not ready", s.Name)
		}
	}
	return nil
}

// sized reports whether the container app was resized.
func (c *course) sized() bool { return resourcesOf(&c.pod.Spec.Containers[0]) != c.wrote }

// rightAfter returns how long after the pod ran it had about this request of CPU; the longest time if it has not.
func (c *course) rightAfter(cpu float64) time.Duration {
	for _, s := range c.sizes {
		if near(s.cpu, cpu, 0.12) {
			return max(s.at.Sub(c.ran), 0)
		}
	}
	return 1<<63 - 1
}
