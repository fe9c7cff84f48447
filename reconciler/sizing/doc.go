// Package sizing is the arithmetic of a resize: quantities in, quantities out.
//
// A request is scaled by an exact factor and held in bounds; its limit follows
// by what the request really changed, so that request:limit stays what the
// author wrote. Amounts are whole millicores of cpu and whole bytes of memory.
//
// It must not know where factors, bounds or originals come from, nor clients,
// nor the time: the same input gives the same output.
package sizing
