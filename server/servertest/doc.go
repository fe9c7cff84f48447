// Package servertest is what tests of the API and of its services have in common: a
// reconciler whose cluster and ratios are in the test's hands, services that are
// reached over TCP, callers who see what the test says, and checks of errors.
//
// It must not know the services, nor the server that they make up: their tests import
// it.
package servertest
