// Package e2e tests the journeys of users: the built programs, run as users run them,
// against a real cluster with real kubelets. The server runs under the ServiceAccount of
// the manifests.
//
// It must not know the internals of any package: it checks only what users can see.
package e2e
