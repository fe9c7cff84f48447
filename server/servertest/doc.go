// Package servertest has the common parts of the tests of the API and its services. A test
// controls the cluster and the ratios of a reconciler, calls services over TCP, decides what
// callers can see, and checks errors.
//
// It must not know the services, nor the server that consists of them: their tests import it.
package servertest
