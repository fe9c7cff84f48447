// Package deliver sends the samples of a node to a server. It retries for a while: the server
// may be restarting, or the node may be so new that the server does not know it yet.
//
// It must not know how samples are made.
package deliver
