// Package server is the transport: the gRPC services, who may call them, how
// errors look to callers, health, and the HTTP endpoints for probes and
// metrics.
//
// It must not decide anything about pods, ratios or holds: it asks the
// reconciler and the stores, and translates.
package server
