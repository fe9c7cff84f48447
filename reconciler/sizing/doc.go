// Package sizing is the arithmetic of a resize: quantities in, quantities out.
//
// A request is scaled by an exact factor and clamped to bounds. Its limit is scaled by
// the same factor, and bounds never raise it: limit' = min(limit × factor,
// request' × limit / request). The limit is above the request if and only if the author
// wrote it so. Amounts are whole millicores of cpu and whole bytes of memory.
//
// The package must not depend on clients, on the time, or on where factors, bounds and
// originals come from: the same input gives the same output.
package sizing
