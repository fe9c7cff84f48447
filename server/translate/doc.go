// Package translate converts what the reconciler and the stores return to the messages of the
// API, where several services need it: sizes, times, decisions and errors.
//
// It must not know the caller, nor the purpose of a call.
package translate
