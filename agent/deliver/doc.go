// Package deliver sends the samples of a node to a server, and asks it before whether to measure. It retries for a while: the server
// may be restarting, or the node may be so new that the server does not know it yet.
//
// It must not know how samples are made.
package deliver
