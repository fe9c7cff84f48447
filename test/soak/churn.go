package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
)

// churn deletes pods, the oldest first. Their owners replace them.
type churn struct {
	client kubernetes.Interface
	pods   listers.PodLister
	// population is the number of pods. If too few of them are running, the machine does
	// not keep up, and churn deletes none.
	population int
	// rate is in pods per second.
	rate    float64
	outages *outages

	paused  atomic.Bool
	deleted atomic.Int64
	// failed counts the deletions that failed.
	failed atomic.Int64
	// active is how long churn was neither paused nor in an outage, in nanoseconds.
	// During that time, inTime pods were deleted, and missed pods were not because too
	// few were running.
	active, inTime, missed atomic.Int64
}

// run deletes pods until ctx is done. It does not make up for deletions that fail while
// the API server is down.
func (c *churn) run(ctx context.Context) {
	const batches = 4 // per second
	tick := time.NewTicker(time.Second / batches)
	defer tick.Stop()
	due, last := 0.0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		elapsed := time.Since(last)
		last = last.Add(elapsed)
		if c.paused.Load() {
			continue
		}
		regular := !c.outages.touch(last.Add(-elapsed), last)
		due += c.rate * elapsed.Seconds()
		// Make up for a late tick, up to a second.
		victims := c.oldest(min(int(due), int(max(1, c.rate))))
		if regular {
			c.active.Add(int64(elapsed))
			c.missed.Add(int64(due) - int64(len(victims)))
		}
		due -= float64(int(due))
		var deleting sync.WaitGroup
		for _, pod := range victims {
			deleting.Go(func() {
				once, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				err := c.client.CoreV1().Pods(pod.Namespace).Delete(once, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
				switch {
				case err == nil:
					c.deleted.Add(1)
					if regular {
						c.inTime.Add(1)
					}
				case apierrors.IsNotFound(err):
					// It was deleted earlier, which the informer has not seen yet.
				default:
					c.failed.Add(1)
				}
			})
		}
		deleting.Wait()
	}
}

// oldest returns the n oldest running pods, or fewer if too few are running.
func (c *churn) oldest(n int) []*corev1.Pod {
	all, err := c.pods.List(labels.Everything())
	if err != nil {
		return nil
	}
	var running []*corev1.Pod
	for _, pod := range all {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
			running = append(running, pod)
		}
	}
	n = min(n, len(running)-c.population*2/3)
	if n <= 0 {
		return nil
	}
	sortByAge(running)
	return running[:n]
}
