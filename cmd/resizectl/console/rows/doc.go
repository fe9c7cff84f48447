// Package rows keeps a row per workload, and returns the window of the rows that a page shows: filtered, in an order. It is pure.
//
// It must not know how the rows are read or shown.
package rows
