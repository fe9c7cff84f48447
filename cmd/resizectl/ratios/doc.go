// Package ratios has the commands for the ratios of node types. It lists and watches ratios,
// overrides them after showing what that means for the pods, and rolls overrides back.
//
// It must not know where ratios come from, nor how a server stores them. Other commands that
// write and show overrides do so through this package.
//
// The verbs of package objects print all lists. Writes do not use them: each is a preview, a question and an
// answer.
package ratios
