// Package nodetype tells the type of a node from its labels.
//
// It must not know the ratios: it asks whether a type is known.
package nodetype
