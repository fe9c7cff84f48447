// Package reflection describes the API to clients such as grpcurl, with the comments of its proto
// files, which generated Go code lacks.
//
// It must not know what the services do.
package reflection
