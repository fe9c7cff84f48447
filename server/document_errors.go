package server

import (
	"context"
	"errors"

	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/rpcerror"
)

// documentReasons are the reasons of what holds, overrides and samples, all kept in
// ConfigMaps, have in common.
type documentReasons struct{ missing, invalid, refused, notReady *rpcerror.Reason }

// documentError translates what a store answers that keeps a document. Whatever
// is not known passes.
func documentError(err error, reasons documentReasons) error {
	var missing *hold.MissingError
	var content *hold.ContentError
	var refused *hold.RefusedError
	switch {
	case errors.As(err, &missing):
		return rpcerror.New(reasons.missing, err.Error())
	case errors.As(err, &content):
		return rpcerror.New(reasons.invalid, err.Error())
	case errors.As(err, &refused):
		return rpcerror.New(reasons.refused, err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return rpcerror.New(reasons.notReady, err.Error())
}

// unstorable says what cannot be stored for want of a ConfigMap; nil if nothing.
func (c *Config) unstorable() error {
	var overrides, holds, samples error
	if c.Overrides != nil {
		overrides = c.Overrides.Missing()
	}
	if c.Holds != nil {
		holds = c.Holds.Missing()
	}
	if c.Benchmarks != nil {
		samples = c.Benchmarks.Missing()
	}
	return errors.Join(overrides, holds, samples)
}
