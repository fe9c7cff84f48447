package hold

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// takeWatched takes over what the watch says of the ConfigMap.
func (s *Store) takeWatched(ctx context.Context, cm *corev1.ConfigMap, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	inForce := len(s.table.Load().All())
	switch {
	case errors.Is(err, follow.ErrMissing) && inForce > 0:
		// Nobody ends every hold by a slip.
		s.reject(ctx, &MissingError{s.source, inForce})
	case errors.Is(err, follow.ErrMissing):
		s.accept(ctx, nil)
	case err != nil:
		s.reject(ctx, err)
	case s.known.watch(stateOf(cm)):
		s.read(ctx, cm)
	}
}

// takeOwn takes over the ConfigMap as it was read or written here.
func (s *Store) takeOwn(ctx context.Context, cm *corev1.ConfigMap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known.have(stateOf(cm)) {
		s.read(ctx, cm)
	}
}

func (s *Store) read(ctx context.Context, cm *corev1.ConfigMap) {
	holds, err := parse(cm.Data)
	if err != nil {
		s.onReject(cm, err)
		s.reject(ctx, &ContentError{s.source, err})
		return
	}
	s.accept(ctx, holds)
}

func (s *Store) accept(ctx context.Context, holds []Hold) {
	s.holds, s.err = holds, nil
	s.refresh(ctx)
	s.notify()
}

// reject leaves the last good holds in force.
func (s *Store) reject(ctx context.Context, err error) {
	s.err = err
	if s.table.Load() == nil {
		klog.FromContext(ctx).Error(err, "Holds cannot be read, waiting for them")
	} else {
		klog.FromContext(ctx).Error(err, "Holds cannot be read, the last good ones stay in force")
	}
	s.notify()
}
