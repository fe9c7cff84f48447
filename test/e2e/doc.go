// Package e2e holds the journeys of users: the built programs, run as users run
// them, against a real cluster with real kubelets. The server runs under the
// ServiceAccount of the manifests.
//
// It must not know the insides of any package: what it checks, a user can see.
package e2e
