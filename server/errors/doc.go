// Package errors makes the errors that callers of the API see: a gRPC status with an
// ErrorInfo. It has the one list of the reasons that there are. Others import it as
// rpcerror, for what they get from the standard library's package is something else.
//
// It must not know what leads to them.
package errors
