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

// state is how far the objects of one resource are known.
type state struct {
	resource schema.GroupResource

	mu sync.Mutex
	// known tells that all of them were read once, or that the API server did not have
	// the resource, which away tells of now.
	known, away bool
	// err is why they cannot be read now, and since is since when; nil if they can, or
	// nothing is known to be wrong.
	err   error
	since time.Time
}

// patience is how long objects are waited for that cannot be read for a reason that may
// pass by itself.
const patience = 30 * time.Second

// settled reports whether there is nothing to wait for.
func (s *state) settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known || s.err != nil && (apierrors.IsForbidden(s.err) || time.Since(s.since) > patience)
}

// problem is why the objects are not known as they are now, nil if they are.
func (s *state) problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return nil
	}
	return fmt.Errorf("%s cannot be read, so holds and autoscalers on what controls them do not count: %w", s.resource, s.err)
}

// failed takes note of an attempt that failed. The log has it once for each reason.
func (s *state) failed(ctx context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.err
	s.err = err
	if before == nil {
		s.since = time.Now()
	}
	if before == nil || apierrors.ReasonForError(before) != apierrors.ReasonForError(err) {
		klog.FromContext(ctx).Error(err, "A kind of workload cannot be read, so holds and autoscalers on what controls its objects do not count", "resource", s.resource.String())
	}
}

// succeeded takes note of an attempt that did not fail.
func (s *state) succeeded(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		s.err = nil
		klog.FromContext(ctx).Info("A kind of workload can be read again", "resource", s.resource.String())
	}
}

// read takes note that all objects were read.
func (s *state) read() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.away = true, false
}

// absent takes note that the API server does not have the resource.
func (s *state) absent(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.away {
		klog.FromContext(ctx).Info("A kind of workload is not installed, and is read once it is", "resource", s.resource.String())
	}
	s.known, s.away, s.err = true, true, nil
}
