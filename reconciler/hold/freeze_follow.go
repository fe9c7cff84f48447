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

// freezeFollower follows the freeze in its ConfigMap: by a watch, and by reads, because a watch
// can be silent or fail for minutes while writes succeed.
type freezeFollower struct {
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

func newFreezeFollower(source follow.ConfigMap, clock clock.PassiveClock, changed func()) *freezeFollower {
	return &freezeFollower{source: source, clock: clock, changed: changed, err: fmt.Errorf("the freeze (%s) is %w", source, document.ErrUnread)}
}

// run follows the ConfigMap until ctx is done; then it returns nil.
func (f *freezeFollower) run(ctx context.Context) error {
	polling := make(chan struct{})
	go func() {
		defer close(polling)
		f.poll(ctx)
	}()
	defer func() { <-polling }()
	return f.source.Run(ctx, func(cm *corev1.ConfigMap, err error) {
		f.take(ctx, cm, err)
		f.changed()
	})
}

// take processes a state of the ConfigMap that the watch or a read reports.
func (f *freezeFollower) take(ctx context.Context, cm *corev1.ConfigMap, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.freeze
	switch {
	case err == nil:
		f.known, f.err = true, nil
		if now := freezeIn(cm); now == nil || before == nil || *now != *before {
			f.freeze = now
		}
	case errors.Is(err, follow.ErrMissing):
		f.known, f.freeze, f.err = true, nil, nil
	default:
		klog.FromContext(ctx).Error(err, "Freeze cannot be read; no pod is resized until it can be read")
		f.err = err
		if f.known && f.freeze == nil {
			// While the ConfigMap cannot be read, an actor may be freezing
			// the cluster.
			f.freeze = &Freeze{Reason: "no freeze was set, but the server can no longer read whether there is one", Since: f.clock.Now().UTC().Truncate(time.Second)}
		}
	}
	switch after := f.freeze; {
	case after != nil && (before == nil || *before != *after):
		klog.FromContext(ctx).Info("Cluster frozen; no pod is resized", "since", after.Since, "author", after.Author, "reason", after.Reason)
	case after == nil && before != nil:
		klog.FromContext(ctx).Info("Freeze ended")
	}
}

// state returns the freeze, nil if there is none, or why it is unknown.
func (f *freezeFollower) state() (*Freeze, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known {
		return nil, f.err
	}
	return f.freeze, nil
}

// problem returns why the ConfigMap cannot be read; nil if it can.
func (f *freezeFollower) problem() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
