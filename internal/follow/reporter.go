package follow

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// reporter turns the events of the ConfigMap into reports, one at a time.
type reporter struct {
	ConfigMap
	// lost receives when the ConfigMap may not be read any more.
	lost chan struct{}

	mu sync.Mutex
	// report is nil after the end.
	report func(*corev1.ConfigMap, error)
	// known tells that the ConfigMap was read once, or was seen to be missing.
	known bool
	// refused tells that it may not be read any more.
	refused bool
	// version is the resource version that was reported last, empty if that
	// was something else.
	version string
}

func (r *reporter) read(cm *corev1.ConfigMap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.content(cm)
}

func (r *reporter) content(cm *corev1.ConfigMap) {
	if cm.ResourceVersion == r.version {
		return // A new list shows what is known already.
	}
	r.known, r.refused, r.version = true, false, cm.ResourceVersion
	r.tell(cm, nil)
}

func (r *reporter) missing() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.absent()
}

// absentUnlessKnown reports what the first list has shown by showing nothing.
func (r *reporter) absentUnlessKnown() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		r.absent()
	}
}

func (r *reporter) absent() {
	r.known, r.refused, r.version = true, false, ""
	r.tell(nil, r.notFound())
}

// found reports what a list has found after it was refused, unless the watch
// was faster.
func (r *reporter) found(cm *corev1.ConfigMap) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.refused:
	case cm == nil:
		r.absent()
	default:
		r.content(cm)
	}
}

// trouble reports that the ConfigMap could not be read. Once it was read,
// trouble with the connection says nothing about its content and passes; only
// that it may not be read any more lasts.
func (r *reporter) trouble(err error) {
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		r.unlessKnown(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused, r.version = true, ""
	r.tell(nil, err)
	select {
	case r.lost <- struct{}{}:
	default: // It is being asked for.
	}
}

// unlessKnown reports what keeps the ConfigMap from being read the first time.
func (r *reporter) unlessKnown(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		r.tell(nil, err)
	}
}

func (r *reporter) tell(cm *corev1.ConfigMap, err error) {
	if r.report != nil {
		r.report(cm, err)
	}
}

// end makes sure that nothing is reported any more.
func (r *reporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report = nil
}
