package follow

import (
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// reporter turns the events of the object into reports, one at a time.
type reporter[T object] struct {
	source[T]
	// lost receives when the object may not be read any more.
	lost chan struct{}

	mu sync.Mutex
	// report is nil after the end.
	report func(T, error)
	// known tells that the object was read once, or was seen to be missing.
	known bool
	// refused tells that it may not be read any more.
	refused bool
	// version is the resource version that was reported last, empty if that
	// was something else.
	version string
}

func (r *reporter[T]) read(found T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.content(found)
}

func (r *reporter[T]) content(found T) {
	if found.GetResourceVersion() == r.version {
		return // A new list shows what is known already.
	}
	r.known, r.refused, r.version = true, false, found.GetResourceVersion()
	r.tell(found, nil)
}

func (r *reporter[T]) missing() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absent()
}

// absentUnlessKnown reports what the first list has shown by showing nothing.
func (r *reporter[T]) absentUnlessKnown() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		r.absent()
	}
}

func (r *reporter[T]) absent() {
	r.known, r.refused, r.version = true, false, ""
	r.tell(*new(T), r.notFound())
}

// found reports what a list has found after it was refused, unless the watch
// was faster.
func (r *reporter[T]) found(found T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.refused:
	case found == *new(T):
		r.absent()
	default:
		r.content(found)
	}
}

// trouble reports that the object could not be read. Once it was read,
// trouble with the connection says nothing about its content and passes; only
// that it may not be read any more lasts.
func (r *reporter[T]) trouble(err error) {
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		r.unlessKnown(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused, r.version = true, ""
	r.tell(*new(T), err)
	select {
	case r.lost <- struct{}{}:
	default: // It is being asked for.
	}
}

// unlessKnown reports what keeps the object from being read the first time.
func (r *reporter[T]) unlessKnown(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		r.tell(*new(T), err)
	}
}

func (r *reporter[T]) tell(found T, err error) {
	if r.report != nil {
		r.report(found, err)
	}
}

// end makes sure that nothing is reported any more.
func (r *reporter[T]) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = nil
}
