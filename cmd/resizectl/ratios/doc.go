// Package ratios has the commands for the ratios of node types. It lists and watches ratios,
// overrides them after showing what that means for the pods, and rolls overrides back.
//
// It must not know where ratios come from, nor how a server stores them. Other commands that
// write and show overrides do so through this package.
package ratios
