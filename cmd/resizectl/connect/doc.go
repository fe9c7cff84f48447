// Package connect calls a server: at an address or in a cluster, as selected by flags,
// environment variables and a kubeconfig; for an answer, a stream, or the completion of a
// command line. It explains connection errors and refusals to the user, with what to do about
// them.
//
// It must not know which commands exist, nor what they print of an answer.
package connect
