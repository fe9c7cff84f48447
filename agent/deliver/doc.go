// Package deliver asks a server whether to measure a node, and sends it the samples. It retries for
// a while: the server may be restarting, or the node may be so new that the server does not know it
// yet.
//
// It must not know how samples are made.
package deliver
