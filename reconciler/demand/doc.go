// Package demand keeps what workloads need. It connects the store of usage with the cluster. The
// leader reads the sources of usage. The store learns which pods exist, what they belong to and how
// their containers were killed, and publishes demands under the ratios of each rule.
//
// It resizes nothing, and must not know how usage is measured or stored.
package demand
