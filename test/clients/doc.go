// Package clients tests that clients that are generated from the API, in Go and in TypeScript,
// compile and can call a server. "make bin/typescript" generates and compiles the one in
// TypeScript.
//
// It must not know what else the API does: the tests of the server check that.
package clients
