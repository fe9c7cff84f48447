// Package clustertest makes clusters for tests, without an API server.
package clustertest
