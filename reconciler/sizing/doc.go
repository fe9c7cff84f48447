// Package sizing is the arithmetic of a resize: quantities in, quantities out.
//
// A request is scaled by an exact factor and held in bounds. Its limit is scaled by
// the same factor, and bounds never raise it: limit' = min(limit × factor,
// request' × limit / request), above its request if and only if its author wrote it
// so. Amounts are whole millicores of cpu and whole bytes of memory.
//
// It must not know where factors, bounds or originals come from, nor clients,
// nor the time: the same input gives the same output.
package sizing
