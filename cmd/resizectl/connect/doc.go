// Package connect asks a server: at an address, or that of a cluster, by flags, variables
// of the environment and a kubeconfig; for an answer, for a stream, or for what completes a
// line. What goes wrong on the way, or is refused, comes back in words for people, with
// what they can do about it.
//
// It must not know which commands there are, nor what is printed of an answer.
package connect
