// Package feeder connects a store of usage with the API server of a cluster, for tests: which pods
// there are, what they belong to, and how their containers were killed.
package feeder
