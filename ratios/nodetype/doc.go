// Package nodetype determines the type of a node from its labels.
//
// It must not know the ratios: it only asks whether a type is known.
package nodetype
