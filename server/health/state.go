package health

import (
	"errors"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
)

// Store keeps something in a ConfigMap.
type Store interface {
	// Missing says what cannot be stored for want of the ConfigMap; nil if nothing.
	Missing() error
}

// Ready returns an error that says what is missing while plans cannot be made.
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

// live returns an error if the server does nothing any more.
func (h *Health) live() error {
	if h.config.Reconciler == nil {
		return nil
	}
	return h.config.Reconciler.Live()
}

// Unstorable says what cannot be stored for want of a ConfigMap; nil if nothing.
func (h *Health) Unstorable() error {
	var missing []error
	for _, store := range h.config.Stores {
		missing = append(missing, store.Missing())
	}
	return errors.Join(missing...)
}

// unknownOwners says which kinds of workloads cannot be read, nil if all can.
func (h *Health) unknownOwners() error {
	if h.config.Reconciler == nil {
		return nil
	}
	return h.config.Reconciler.UnknownOwners()
}
