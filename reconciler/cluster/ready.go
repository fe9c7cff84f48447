package cluster

import (
	"errors"
	"fmt"
)

// NotReadyError means that pods cannot be planned yet.
type NotReadyError struct {
	What NotReady
	Err  error
}

// NotReady is a missing input of plans.
type NotReady int

const (
	// RatiosNotReady: there is no table of ratios.
	RatiosNotReady NotReady = iota
	// CacheNotReady: pods and nodes, or the holds, are unknown.
	CacheNotReady
)

var errCacheNotReady = errors.New("pods and nodes are not read yet")

func (e *NotReadyError) Error() string { return "not ready: " + e.Err.Error() }
func (e *NotReadyError) Unwrap() error { return e.Err }

// Filled returns a channel that is closed once all pods are read. From then on, the
// reconciler can work if it has ratios.
func (c *Cluster) Filled() <-chan struct{} { return c.filled }

// IsFilled reports whether all pods are read.
func (c *Cluster) IsFilled() bool {
	select {
	case <-c.filled:
		return true
	default:
		return false
	}
}

// Ready returns an error that names what is missing while pods cannot be planned.
func (c *Cluster) Ready() error {
	_, noRatios := c.Ratios.Ready()
	_, noHolds := c.Holds.Ready()
	noCache := errors.Join(c.cacheReady(), noHolds)
	switch {
	case noRatios != nil:
		return &NotReadyError{RatiosNotReady, errors.Join(noRatios, noCache)}
	case noCache != nil:
		return &NotReadyError{CacheNotReady, noCache}
	}
	return nil
}

// CacheReady returns a NotReadyError that explains why pods and nodes are unknown; nil if
// they are known.
func (c *Cluster) CacheReady() error {
	if err := c.cacheReady(); err != nil {
		return &NotReadyError{CacheNotReady, err}
	}
	return nil
}

func (c *Cluster) cacheReady() error {
	if c.IsFilled() {
		return nil
	}
	for _, cause := range [...]*error{c.unread.Load(), c.vpas.err.Load()} {
		if cause != nil {
			return fmt.Errorf("%w: %w", errCacheNotReady, *cause)
		}
	}
	return errCacheNotReady
}
