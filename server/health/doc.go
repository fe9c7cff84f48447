// Package health tells whether the server is well: by the health service of gRPC, to
// probes over HTTP, and to whoever asks what is missing.
//
// It must not know what is done about it.
package health
