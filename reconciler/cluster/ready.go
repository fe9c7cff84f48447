package cluster

import (
	"errors"
	"fmt"
)

// NotReadyError tells that plans cannot be made yet.
type NotReadyError struct {
	What NotReady
	Err  error
}

// NotReady is what is missing for plans.
type NotReady int

const (
	// RatiosNotReady: there is no ratio table.
	RatiosNotReady NotReady = iota
	// CacheNotReady: pods and nodes are not known.
	CacheNotReady
)

var errCacheNotReady = errors.New("pods and nodes are not read yet")

func (e *NotReadyError) Error() string { return "not ready: " + e.Err.Error() }
func (e *NotReadyError) Unwrap() error { return e.Err }

// Filled returns a channel that is closed once all pods were read: the reconciler can
// work from then on, given ratios.
func (c *Cluster) Filled() <-chan struct{} { return c.filled }

// IsFilled reports whether all pods were read.
func (c *Cluster) IsFilled() bool {
	select {
	case <-c.filled:
		return true
	default:
		return false
	}
}

// Ready returns an error that says what is missing while plans cannot be made.
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

// CacheReady returns a NotReadyError that says why pods and nodes are not known; nil if
// they are.
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
