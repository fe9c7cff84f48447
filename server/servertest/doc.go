// Package servertest has the common parts of the tests of the API and its services: a
// reconciler whose cluster and ratios the test controls, services that are reached over TCP,
// callers with a view that the test sets, and checks of errors.
//
// It must not know the services, nor the server that consists of them: their tests import it.
package servertest
