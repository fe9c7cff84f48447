package owners

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

// state is the state of the objects of one resource.
type state struct {
	resource schema.GroupResource

	mu sync.Mutex
	// known reports whether all objects were read once, or the API server was seen
	// without the resource. away reports whether it is without the resource now.
	known, away bool
	// err is why the objects cannot be read now, and since is when that began; nil if
	// they can be read, or if no error is known.
	err   error
	since time.Time
}

// patience is how long to wait for objects that cannot be read for a reason that may be
// temporary.
const patience = 30 * time.Second

// settled reports whether there is no reason to wait any longer.
func (s *state) settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known || s.err != nil && (apierrors.IsForbidden(s.err) || time.Since(s.since) > patience)
}

// problem returns why the current objects are unknown; nil if they are known.
func (s *state) problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("%s cannot be read, so holds and autoscalers on their owners are ignored: %w", s.resource, s.err)
}

// failed records a failed attempt. It logs each reason once.
func (s *state) failed(ctx context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.err
	s.err = err
	if before == nil {
		s.since = time.Now()
	}
	if before == nil || apierrors.ReasonForError(before) != apierrors.ReasonForError(err) {
		klog.FromContext(ctx).Error(err, "Workload kind cannot be read, so holds and autoscalers on the owners of its objects are ignored", "resource", s.resource.String())
	}
}

// succeeded records a successful attempt.
func (s *state) succeeded(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		s.err = nil
		klog.FromContext(ctx).Info("Workload kind can be read again", "resource", s.resource.String())
	}
}

// read records that all objects were read.
func (s *state) read() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.away = true, false
}

// absent records that the API server does not have the resource.
func (s *state) absent(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.away {
		klog.FromContext(ctx).Info("Workload kind is not installed, and will be read once it is", "resource", s.resource.String())
	}
	s.known, s.away, s.err = true, true, nil
}
