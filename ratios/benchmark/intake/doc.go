// Package intake takes in samples, those that are sent and those that feeds have, and
// has the provider of measured ratios keep them. It gives them the names that node types
// have in the ratios in force.
//
// It must not know who may send samples, nor what they come to.
package intake
