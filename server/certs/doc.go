// Package certs keeps the TLS configuration of a server at what its files say.
//
// It must not know who the callers are.
package certs
