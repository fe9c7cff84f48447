// Package health reports whether the server is healthy: through the gRPC health service, to
// HTTP probes, and to the services that list problems.
//
// It must not know how problems are fixed.
package health
