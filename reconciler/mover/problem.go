package mover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/klog/v2"
)

// Problems that everybody sees who may see the status. They name no pod, since these are not for everybody.
var (
	errUnjudged = errors.New("pods cannot be judged, so that they are not evicted: a right is missing, as the log says; apply the component evict-pods, which has the rights")
	errUnstored = errors.New("evictions cannot be stored, so no pod is evicted")
	errRefused  = errors.New("pods cannot be evicted: the API server forbids it, as the log says; apply the component evict-pods, which has the right")
)

// place is a kind of problem, and the namespace or the pod that it may concern only; empty if it concerns all.
type place struct {
	kind  error
	where string
}

// failure is what everybody may see of a problem, and when it occurred last.
type failure struct {
	err error
	at  time.Time
}

// lasts reports whether it still prevents something. Later, nobody tries it.
func (f *failure) lasts(now time.Time) bool { return now.Sub(f.at) < 2*lastRetry }

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
	now := m.Clock.Now()
	for _, kind := range [...]error{errUnstored, errRefused, errUnjudged} {
		for p, f := range m.failed {
			if errors.Is(p.kind, kind) && f.lasts(now) {
				return f.err
			}
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

// fails notes a problem, which lasts until something works there.
func (m *Mover) fails(at place, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Clock.Now()
	maps.DeleteFunc(m.failed, func(_ place, f failure) bool { return !f.lasts(now) })
	m.failed[at] = failure{err, now}
}

func (m *Mover) works(at place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.failed, at)
}

// forget notes that this process no longer tries to move pods: what has prevented it is outdated.
func (m *Mover) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.failed)
	clear(m.retries)
}

// unstored reports that a decision cannot be stored, so that nothing is evicted.
func (m *Mover) unstored(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	m.fails(place{kind: errUnstored}, fmt.Errorf("%w: %w", errUnstored, err))
	klog.FromContext(ctx).Error(err, "Evictions cannot be stored, so no pod is evicted; retrying")
}
