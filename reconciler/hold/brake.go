package hold

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// brake follows the freeze in its ConfigMap: by a watch, and by reads, because a watch can be
// silent or fail for minutes while writes succeed.
type brake struct {
	source follow.ConfigMap
	// looker is the client of look.
	looker kubernetes.Interface
	clock  clock.PassiveClock
	// changed is called after every change to the state.
	changed func()

	mu sync.Mutex
	// known reports whether the ConfigMap was read, or seen to be missing.
	known bool
	// freeze is nil if the cluster is not frozen.
	freeze *Freeze
	// err is why the ConfigMap cannot be read; nil if it can.
	err error

	// looking is held while the ConfigMap is read, so that concurrent writes share a read.
	looking sync.Mutex
	// lookBegan is when the last read began, and lookErr why it failed. Both are guarded by
	// looking.
	lookBegan time.Time
	lookErr   error
}

func newBrake(source follow.ConfigMap, clock clock.PassiveClock, changed func()) *brake {
	return &brake{source: source, clock: clock, changed: changed, err: fmt.Errorf("the freeze (%s) is %w", source, document.ErrUnread)}
}

// run follows the ConfigMap until ctx is done; then it returns nil.
func (b *brake) run(ctx context.Context) error {
	polling := make(chan struct{})
	go func() {
		defer close(polling)
		b.poll(ctx)
	}()
	defer func() { <-polling }()
	return b.source.Run(ctx, func(cm *corev1.ConfigMap, err error) {
		b.take(ctx, cm, err)
		b.changed()
	})
}

// take processes a state of the ConfigMap that the watch or a read reports.
func (b *brake) take(ctx context.Context, cm *corev1.ConfigMap, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.freeze
	switch {
	case err == nil:
		b.known, b.err = true, nil
		if f := freezeIn(cm); f == nil || before == nil || *f != *before {
			b.freeze = f
		}
	case errors.Is(err, follow.ErrMissing):
		b.known, b.freeze, b.err = true, nil, nil
	default:
		klog.FromContext(ctx).Error(err, "Freeze cannot be read; no pod is resized until it can be read")
		b.err = err
		if b.known && b.freeze == nil {
			// While the ConfigMap cannot be read, an actor may be freezing
			// the cluster.
			b.freeze = &Freeze{Reason: "no freeze was set, but the server can no longer read whether there is one", Since: b.clock.Now().UTC().Truncate(time.Second)}
		}
	}
	switch after := b.freeze; {
	case after != nil && (before == nil || *before != *after):
		klog.FromContext(ctx).Info("Cluster frozen; no pod is resized", "since", after.Since, "author", after.Author, "reason", after.Reason)
	case after == nil && before != nil:
		klog.FromContext(ctx).Info("Freeze ended")
	}
}

// state returns the freeze, nil if there is none, or why it is unknown.
func (b *brake) state() (*Freeze, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.known {
		return nil, b.err
	}
	return b.freeze, nil
}

// problem returns why the ConfigMap cannot be read; nil if it can.
func (b *brake) problem() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
