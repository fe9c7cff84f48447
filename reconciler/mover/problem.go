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
	errRefused  = errors.New("pods cannot be evicted: the API server forbids it, as the log says; apply the component evict-pods, which has the right")
)

// denial is that the API server has denied what is needed to move a pod.
type denial struct {
	err error
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
	// If nothing is denied for two retries, the pod may be gone.
	if m.problem == nil && m.Clock.Since(m.denied.at) < 2*lastRetry {
		return m.denied.err
	}
	return m.problem
}

// fail notes why nothing can be evicted.
func (m *Mover) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problem = err
}

// deny notes what was denied for a pod.
func (g *glance) deny(uid types.UID, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.denied = denial{err, uid, g.now}
}

// allow notes that what was denied for a pod no longer is.
func (g *glance) allow(uid types.UID, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.denied.uid == uid && g.denied.err == err {
		g.denied = denial{}
	}
}

// unstored reports that a decision cannot be stored, so that nothing is evicted.
func (m *Mover) unstored(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	m.fail(fmt.Errorf("evictions cannot be stored, so no pod is evicted: %w", err))
	klog.FromContext(ctx).Error(err, "Evictions cannot be stored, so no pod is evicted; retrying")
}
