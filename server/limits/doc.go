// Package limits bounds what callers can ask for: how often, for how long, and how
// much at a time.
//
// It must not know what the services do.
package limits
