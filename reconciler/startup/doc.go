// Package startup lets pods onto new nodes: it removes the startup taint behind which a node
// measures itself, as soon as it is measured, and otherwise when a node has been ready for a
// while.
//
// It must not know how nodes are measured.
package startup
