// Package deliver asks a server whether to measure a node, and sends it the samples, or what the
// containers of the node used. It retries for a while: the server may be restarting, or the node or
// a pod may be so new that the server does not know it yet.
//
// It must not know how samples and usages are made.
package deliver
