package mover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"
)

// Problems that everybody sees who may see the status. They name no pod, since these are not for everybody.
var (
	errUnjudged = errors.New("pods cannot be judged, so that they are not evicted: a right is missing, as the log says; apply the component evict-pods, which has the rights")
	errUnstored = errors.New("evictions cannot be stored, so no pod is evicted")
	errRefused  = errors.New("pods cannot be evicted: the API server forbids it, as the log says; apply the component evict-pods, which has the right")
)

// failure is that something has failed which is needed to move pods.
type failure struct {
	// err is what everybody may see of it.
	err error
	// where is the namespace or the pod, if it may concern only that; empty if it concerns all.
	where string
	at    time.Time
}

// Problem returns why pods cannot be evicted although the configuration says so; nil if nothing is known to prevent it.
func (m *Mover) Problem() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.problem != nil {
		return m.problem
	}
	for _, kind := range [...]error{errUnstored, errRefused, errUnjudged} {
		if f, failed := m.failed[kind]; failed && m.Clock.Since(f.at) < 2*lastRetry { // Later, nobody tries it.
			return f.err
		}
	}
	return nil
}

// fail notes why nothing can be evicted.
func (m *Mover) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problem = err
}

// fails notes a problem of one of these kinds, which lasts until works is called for the same namespace or pod.
func (m *Mover) fails(kind error, f failure) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.at = m.Clock.Now()
	m.failed[kind] = f
}

func (m *Mover) works(kind error, where string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed[kind].where == where {
		delete(m.failed, kind)
	}
}

// forget notes that this process no longer tries to move pods.
func (m *Mover) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.failed)
}

// unstored reports that a decision cannot be stored, so that nothing is evicted.
func (m *Mover) unstored(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	m.fails(errUnstored, failure{err: fmt.Errorf("%w: %w", errUnstored, err)})
	klog.FromContext(ctx).Error(err, "Evictions cannot be stored, so no pod is evicted; retrying")
}
