// Package override is the provider of the ratios that users set through the API. It stores them
// in one ConfigMap, with a history of who changed what and why. Concurrent writers of any
// replica never undo each other's changes.
//
// It must not know other providers or who may change ratios.
package override
