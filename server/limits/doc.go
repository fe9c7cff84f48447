// Package limits bounds the calls of callers: their rate, their duration, and the work that
// they cause at the same time.
//
// It must not know what the services do.
package limits
