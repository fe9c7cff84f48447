// Package certs keeps the TLS configuration of a server in sync with its files.
//
// It must not know who the callers are.
package certs
