// Package rpcerror makes the errors that callers of the API see: a gRPC status
// with an ErrorInfo. It has the one list of the reasons that there are.
//
// It must not know what leads to them.
package rpcerror
