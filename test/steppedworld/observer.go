package steppedworld

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// Observer follows pods.
type Observer struct {
	mu   sync.Mutex
	pods map[types.UID]*Course
	// changed is when a pod was last seen to change.
	changed time.Time
}

// Course is what became of a pod.
type Course struct {
	Pod *corev1.Pod
	// Class is its first QoS class, and Wrote what its author wrote for the first container, as text.
	Class corev1.PodQOSClass
	Wrote string
	// Ran is when it was first seen to run, and Sizes has when the first container had which request of CPU.
	Ran   time.Time
	Sizes []SizeAt
}

// SizeAt is the request of CPU that a container has from a time on.
type SizeAt struct {
	At  time.Time
	CPU float64
}

// Observe starts to follow the pods with a label.
func Observe(t *testing.T, client kubernetes.Interface, label string) *Observer {
	t.Helper()
	o := &Observer{pods: map[types.UID]*Course{}}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = label }))
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

func (o *Observer) see(p *corev1.Pod) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.pods[p.UID]
	if c == nil {
		c = &Course{Class: p.Status.QOSClass, Wrote: ResourcesOf(&p.Spec.Containers[0])}
		o.pods[p.UID] = c
	}
	c.Pod, o.changed = p, time.Now()
	if c.Ran.IsZero() && p.Status.Phase == corev1.PodRunning {
		c.Ran = time.Now()
	}
	cpu := p.Spec.Containers[0].Resources.Requests.Cpu().AsApproximateFloat64()
	if n := len(c.Sizes); n == 0 || c.Sizes[n-1].CPU != cpu {
		c.Sizes = append(c.Sizes, SizeAt{time.Now(), cpu})
	}
}

// All returns the pods that are not being deleted, as they are now.
func (o *Observer) All() (all []Course) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, uid := range slices.Sorted(maps.Keys(o.pods)) {
		if c := o.pods[uid]; c.Pod.DeletionTimestamp == nil {
			of := *c
			of.Sizes = slices.Clone(c.Sizes)
			all = append(all, of)
		}
	}
	return all
}

// Await waits until there are this many pods, and a function finds nothing wrong with any of them.
func (o *Observer) Await(t *testing.T, what string, wrong func(*Course) error, n int) {
	t.Helper()
	localcluster.Eventually(t, what, func() error {
		all := o.All()
		for i := range all {
			if err := wrong(&all[i]); err != nil {
				return fmt.Errorf("pod %s: %w", all[i].Pod.Name, err)
			}
		}
		if len(all) != n {
			return fmt.Errorf("%d pods, not %d", len(all), n)
		}
		return nil
	})
}

// calm reports whether nothing has changed for a while, and nodes have completed all resizes.
func (o *Observer) calm(since time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.changed) < since {
		return false
	}
	for _, c := range o.pods {
		for i := range c.Pod.Status.ContainerStatuses {
			of := &c.Pod.Spec.Containers[i]
			if s := &c.Pod.Status.ContainerStatuses[i]; s.Name == of.Name && s.Resources != nil && ResourcesOf(of) != ResourcesOf(&corev1.Container{Resources: *s.Resources}) {
				return false
			}
		}
	}
	return true
}

// Tally counts the pods by what was resized.
func (o *Observer) Tally() string {
	lowered, raised, kept := 0, 0, 0
	for _, c := range o.All() {
		switch first, last := c.Sizes[0].CPU, c.Sizes[len(c.Sizes)-1].CPU; {
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

// Runs returns an error unless the pod runs and is ready.
func (c *Course) Runs() error {
	if c.Pod.Status.Phase != corev1.PodRunning {
		return fmt.Errorf("it is %s", c.Pod.Status.Phase)
	}
	for _, s := range c.Pod.Status.ContainerStatuses {
		if !s.Ready {
			return fmt.Errorf("container %s is not ready", s.Name)
		}
	}
	return nil
}

// Sized reports whether the first container was resized.
func (c *Course) Sized() bool { return ResourcesOf(&c.Pod.Spec.Containers[0]) != c.Wrote }

// RightAfter returns how long after the pod ran it had about this request of CPU; the longest time if it has not.
func (c *Course) RightAfter(cpu float64) time.Duration {
	for _, s := range c.Sizes {
		if math.Abs(s.CPU-cpu) <= 0.12*cpu {
			return max(s.At.Sub(c.Ran), 0)
		}
	}
	return 1<<63 - 1
}

// Limits returns the limits that a container has now, as its node reports them.
func (c *Course) Limits(container string) corev1.ResourceList {
	for i := range c.Pod.Status.ContainerStatuses {
		if s := &c.Pod.Status.ContainerStatuses[i]; s.Name == container && s.Resources != nil {
			return s.Resources.Limits
		}
	}
	for i := range c.Pod.Spec.Containers {
		if of := &c.Pod.Spec.Containers[i]; of.Name == container {
			return of.Resources.Limits
		}
	}
	return nil
}

// Settled waits until nodes have completed what the servers asked for, for which they need a moment of real time. It reports whether
// they did.
func (o *Observer) Settled() bool {
	for deadline := time.Now().Add(localcluster.Patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if o.calm(60 * time.Millisecond) {
			return true
		}
	}
	return false
}

// ResourcesOf returns requests and limits as text.
func ResourcesOf(c *corev1.Container) string {
	var parts []string
	for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
		parts = append(parts, list.Cpu().String()+" "+list.Memory().String())
	}
	return strings.Join(parts, " / ")
}
