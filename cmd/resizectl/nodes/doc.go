// Package nodes has the command that lists the nodes in the cluster: how fast they are, and what their pods request, use and share.
//
// It must not know why a node is overloaded, or what a pod gets on it: the server says so.
package nodes
