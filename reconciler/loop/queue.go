package loop

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// waitingLine has the queued pods in order of arrival. For metrics and traces, it
// records when each pod was queued. The surrounding workqueue locks the line; the mutex
// is needed only by turn.
type waitingLine struct {
	now    func() time.Time
	waited prometheus.Observer
	pods   []queuedPod

	mu sync.Mutex
	// since is when the pods were queued that workers have taken.
	since map[types.NamespacedName]time.Time
}

type queuedPod struct {
	pod   types.NamespacedName
	since time.Time
}

// newQueue returns a queue of pods, and its line, which measures how long they wait. Pods that are queued later
// wait by the same clock that decides how long.
func newQueue(with clock.WithTicker, waited prometheus.Observer) (workqueue.TypedDelayingInterface[types.NamespacedName], *waitingLine) {
	line := &waitingLine{now: with.Now, waited: waited, since: map[types.NamespacedName]time.Time{}}
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.NamespacedName]{Queue: line})
	return workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.NamespacedName]{Queue: queue, Clock: with}), line
}

// Touch implements workqueue.Queue: a pod that is queued again keeps its place.
func (l *waitingLine) Touch(types.NamespacedName) {}

// Push implements workqueue.Queue.
func (l *waitingLine) Push(pod types.NamespacedName) {
	l.pods = append(l.pods, queuedPod{pod, l.now()})
}

// Len implements workqueue.Queue.
func (l *waitingLine) Len() int { return len(l.pods) }

// Pop implements workqueue.Queue.
func (l *waitingLine) Pop() types.NamespacedName {
	first := l.pods[0]
	l.pods[0] = queuedPod{} // The slice may be kept for a long time.
	l.pods = l.pods[1:]
	l.waited.Observe(l.now().Sub(first.since).Seconds())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since[first.pod] = first.since
	return first.pod
}

// turn returns when a pod that a worker has taken was queued. Call it once for each
// time that a worker takes the pod.
func (l *waitingLine) turn(pod types.NamespacedName) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	since := l.since[pod]
	delete(l.since, pod)
	return since
}
