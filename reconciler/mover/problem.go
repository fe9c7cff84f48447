package mover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
)

// Problems that everybody sees who may see the status. They name no pod, since these are not for everybody.
var (
	errUnjudged = errors.New("pods cannot be judged, so that they are not evicted: a right is missing, as the log says; apply the component evict-pods, which has the rights")
	errUnstored = errors.New("evictions cannot be stored, so no pod is evicted")
	errRefused  = errors.New("pods cannot be evicted: the API server forbids it, as the log says; apply the component evict-pods, which has the right")
)

// failure is what has failed last although it is needed to move pods.
type failure struct {
	err error
	// uid is the pod, if it may concern only some.
	uid types.UID
	at  time.Time
}

// Problem returns why no pod can be evicted although the configuration says so; nil if nothing prevents it.
func (m *Mover) Problem() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.problem == nil && m.Clock.Since(m.failed.at) < 2*lastRetry { // Later, nobody tries it.
		return m.failed.err
	}
	return m.problem
}

// fail notes why nothing can be evicted.
func (m *Mover) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problem = err
}

// note notes what has failed, until it works again.
func (m *Mover) note(err error, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = failure{err, uid, m.Clock.Now()}
}

// works notes that something works that may have failed: for all pods, or for one.
func (m *Mover) works(what error, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if errors.Is(m.failed.err, what) && (uid == "" || uid == m.failed.uid) {
		m.failed = failure{}
	}
}

// forget notes that this process no longer tries to move pods.
func (m *Mover) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = failure{}
}

// unstored reports that a decision cannot be stored, so that nothing is evicted.
func (m *Mover) unstored(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	m.note(fmt.Errorf("%w: %w", errUnstored, err), "")
	klog.FromContext(ctx).Error(err, "Evictions cannot be stored, so no pod is evicted; retrying")
}
