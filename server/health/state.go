package health

import (
	"errors"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
)

// Store keeps a document in a ConfigMap.
type Store interface {
	// Missing returns what cannot be stored because the ConfigMap does not exist; nil if
	// nothing.
	Missing() error
}

// Ready returns what is missing while plans cannot be made; nil once they can.
func (h *Health) Ready() error {
	if h.config.Certificate != nil {
		if err := h.config.Certificate.Ready(); err != nil {
			return err
		}
	}
	if h.config.Reconciler != nil {
		return h.config.Reconciler.Ready()
	}
	if _, err := h.config.Ratios.Ready(); err != nil {
		return &cluster.NotReadyError{What: cluster.RatiosNotReady, Err: err}
	}
	return nil
}

// live returns an error if the server no longer makes progress.
func (h *Health) live() error {
	if h.config.Reconciler == nil {
		return nil
	}
	return h.config.Reconciler.Live()
}

// Unstorable returns what cannot be stored because a ConfigMap does not exist; nil if
// nothing.
func (h *Health) Unstorable() error {
	var missing []error
	for _, store := range h.config.Stores {
		missing = append(missing, store.Missing())
	}
	return errors.Join(missing...)
}

// unknownOwners returns which kinds of workloads cannot be read; nil if all can.
func (h *Health) unknownOwners() error {
	if h.config.Reconciler == nil {
		return nil
	}
	return h.config.Reconciler.UnknownOwners()
}
