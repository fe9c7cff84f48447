// Package apirules checks the API definition against the rules of Google's AIPs (https://google.aip.dev)
// that the linter of buf does not have.
//
// It must not know what the services do.
package apirules
