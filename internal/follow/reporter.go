package follow

import (
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// reporter turns the events of the object into reports, one at a time.
type reporter[T object] struct {
	source[T]
	// lost receives when the process is no longer allowed to read the object.
	lost chan struct{}

	mu sync.Mutex
	// report is nil after the end.
	report func(T, error)
	// known reports whether the object was read once, or was seen to be missing.
	known bool
	// refused reports whether the API server no longer allows the object to be read.
	refused bool
	// version is the resource version of the last report; empty if that report
	// had no object.
	version string
}

func (r *reporter[T]) read(found T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.content(found)
}

func (r *reporter[T]) content(found T) {
	if found.GetResourceVersion() == r.version {
		return // A new list repeats a known version.
	}
	r.known, r.refused, r.version = true, false, found.GetResourceVersion()
	r.tell(found, nil)
}

func (r *reporter[T]) missing() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absent()
}

// absentUnlessKnown reports that the object is missing if the first list did not have it.
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

// found reports the result of a list after a refusal, unless the watch was faster.
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

// trouble reports that the object could not be read. Once the object was read,
// connection errors are temporary, do not concern its content and are not reported;
// only a lost permission is.
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
	default: // A list is pending already.
	}
}

// unlessKnown reports why the object could not be read yet.
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

// end stops all further reports.
func (r *reporter[T]) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = nil
}
