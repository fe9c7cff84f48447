// Package server is the transport: the gRPC services, who may call them, how
// errors look to callers, health, and the HTTP endpoints for probes and
// metrics.
//
// It must not decide anything about pods or ratios: it asks the reconciler and
// the ratio store, and translates.
package server
