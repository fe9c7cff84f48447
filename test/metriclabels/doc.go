// Package metriclabels says which values the labels of the server's metrics may have,
// for tests of what the server tells and of what alerts and the dashboard ask for.
//
// It must not know any metric.
package metriclabels
