// Package translate says in the terms of the API what the reconciler and the stores
// say, where several services do: sizes, times, decisions and errors.
//
// It must not know who asks, nor what for.
package translate
