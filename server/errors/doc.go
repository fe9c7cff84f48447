// Package errors creates the errors that callers of the API see: a gRPC status with an
// ErrorInfo. It has the only list of reasons. Other packages import it as rpcerror, because
// the standard library also has a package errors.
//
// It must not know what causes the errors.
package errors
