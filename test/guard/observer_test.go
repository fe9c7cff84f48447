package guard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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

// observer notes when something happens to pods.
type observer struct {
	mu      sync.Mutex
	courses map[types.UID]*course
}

// course is what has happened to a pod. A copy of it does not change.
type course struct {
	pod  *corev1.Pod
	gone bool
	// injected is when and what was injected, if anything, and restarts is how often the
	// container had restarted until then.
	injected time.Time
	what     *injection
	restarts int32
	// harmed is when the status showed the harm, and back is when the sizes were back.
	harmed, back time.Time
	// changes is how often the sizes changed, and changed is when they did so first.
	changes int
	changed time.Time
	// down is how long the container was not ready after it had been, until downSince if it is not
	// ready now.
	wasReady  bool
	downSince time.Time
	down      time.Duration
}

// observe observes all pods until the test ends.
func observe(t *testing.T, client kubernetes.Interface) *observer {
	t.Helper()
	o := &observer{courses: map[types.UID]*course{}}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { o.see(obj, false) },
		UpdateFunc: func(_, obj any) { o.see(obj, false) },
		DeleteFunc: func(obj any) { o.see(obj, true) },
	}); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	factory.Start(stop)
	t.Cleanup(func() { close(stop); factory.Shutdown() })
	return o
}

func (o *observer) see(obj any, gone bool) {
	pod, ok := obj.(*corev1.Pod)
	if last, missed := obj.(cache.DeletedFinalStateUnknown); missed {
		pod, ok = last.Obj.(*corev1.Pod)
	}
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.courses[pod.UID]
	if c == nil {
		c = &course{pod: pod}
		o.courses[pod.UID] = c
	}
	if sizesOf(c.pod) != sizesOf(pod) {
		if c.changes++; c.changed.IsZero() {
			c.changed = time.Now()
		}
	}
	c.pod, c.gone = pod, gone
	c.measure(time.Now())
	c.note(time.Now())
}

// measure measures how long the container is not ready.
func (c *course) measure(now time.Time) {
	if !c.downSince.IsZero() {
		c.down, c.downSince = c.down+now.Sub(c.downSince), time.Time{}
	}
	switch {
	case statusOf(c.pod).Ready:
		c.wasReady = true
	case c.wasReady:
		c.downSince = now
	}
}

// note notes what the pod shows now.
func (c *course) note(now time.Time) {
	if c.what == nil {
		return
	}
	if c.what.shows != nil && c.harmed.IsZero() {
		if at := c.what.shows(c); !at.IsZero() {
			c.harmed = at
			if c.harmed.Before(now) {
				c.harmed = now
			}
		}
	}
	if c.back.IsZero() && sizesOf(c.pod) == c.what.back {
		c.back = now
	}
}

// inject notes that something is injected now.
func (o *observer) inject(c course, what *injection) {
	o.mu.Lock()
	defer o.mu.Unlock()
	of := o.courses[c.pod.UID]
	of.what, of.injected, of.restarts = what, time.Now(), statusOf(of.pod).RestartCount
	if what.shows == nil {
		of.harmed = of.injected
	}
}

// since makes the harm of a pod count from now on, as when there is room at last.
func (o *observer) since(c course) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.courses[c.pod.UID].harmed = time.Now()
}

// of returns the pods of a workload, including those that are gone.
func (o *observer) of(namespace, workload string) (found []course) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.courses {
		if c.pod.Namespace == namespace && (workload == "" || c.pod.Labels["app"] == workload) {
			found = append(found, *c)
		}
	}
	slices.SortFunc(found, func(a, b course) int { return cmp.Compare(a.pod.Name, b.pod.Name) })
	return found
}

// await waits until as many pods of a workload exist, and each meets a condition, and returns
// them.
func (o *observer) await(t *testing.T, namespace, workload string, count int, what string, meets func(*course) bool) (found []course) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("%d pods of %s/%s: %s", count, namespace, workload, what), func() error {
		found = found[:0]
		var others []string
		for _, c := range o.of(namespace, workload) {
			switch {
			case c.gone || c.pod.DeletionTimestamp != nil:
			case meets(&c):
				found = append(found, c)
			default:
				others = append(others, c.String())
			}
		}
		if len(found) != count || len(others) > 0 {
			return fmt.Errorf("%d are, and not %q", len(found), others)
		}
		return nil
	})
	return found
}

// awaitSome waits until exactly so many pods of a workload meet a condition.
func (o *observer) awaitSome(t *testing.T, namespace, workload string, count int, meets func(*course) bool) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("some pods of %s/%s", namespace, workload), func() error {
		found := 0
		for _, c := range o.of(namespace, workload) {
			if meets(&c) {
				found++
			}
		}
		if found != count {
			return fmt.Errorf("there are %d, want %d", found, count)
		}
		return nil
	})
}

// String describes the pod.
func (c *course) String() string {
	status := statusOf(c.pod)
	return fmt.Sprintf("%s/%s on %s: %s, ready %t, %d restarts, state %v, last %v, reverted %q, record %q, conditions %v", c.pod.Namespace, c.pod.Name, c.pod.Spec.NodeName, sizesOf(c.pod), status.Ready,
		status.RestartCount, status.State, status.LastTerminationState, c.pod.Annotations[revertedKey], c.pod.Annotations["workload-resizer.io/applied-sizes"], c.pod.Status.Conditions)
}

const (
	appliedKey  = "workload-resizer.io/applied-instance-type"
	revertedKey = "workload-resizer.io/reverted"
)

// lowered reports whether the resize of a pod is complete, and the container is ready.
func lowered(c *course) bool { return sized(c) && statusOf(c.pod).Ready }

// sized reports whether the resize of a pod is complete.
func sized(c *course) bool {
	status := statusOf(c.pod)
	return sizesOf(c.pod) == loweredCPU+" "+loweredMemory && c.pod.Annotations[appliedKey] != "" && status.Resources != nil &&
		status.Resources.Limits.Memory().Equal(*c.pod.Spec.Containers[0].Resources.Limits.Memory())
}

// running reports whether the container runs.
func running(c *course) bool { return statusOf(c.pod).Ready }

// back reports whether a pod has its former size.
func back(c *course) bool { return !c.back.IsZero() && sizesOf(c.pod) == c.what.back }

// steady is how long a container runs that has what it needs, at least.
const steady = 3 * time.Second

// recovered reports whether a pod runs steadily with its former size.
func recovered(c *course) bool {
	runs := statusOf(c.pod).State.Running
	return back(c) && runs != nil && time.Since(runs.StartedAt.Time) > steady
}

// sizesOf returns the requests of a pod. The limits are the same.
func sizesOf(pod *corev1.Pod) string {
	r := pod.Spec.Containers[0].Resources
	text := r.Requests.Cpu().String() + " " + r.Requests.Memory().String()
	if limits := r.Limits.Cpu().String() + " " + r.Limits.Memory().String(); limits != text {
		return text + " limited to " + limits
	}
	return text
}

// statusOf returns the status of the container; an empty one if there is none yet.
func statusOf(pod *corev1.Pod) corev1.ContainerStatus {
	if len(pod.Status.ContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return pod.Status.ContainerStatuses[0]
}

// untouched reports whether nothing was reverted in a pod.
func untouched(c *course) bool {
	return c.pod.Annotations[revertedKey] == "" && !strings.HasPrefix(sizesOf(c.pod), cpu+" ")
}
