// Package deliver sends the samples of a node to a server, and does not give up
// at once: a server may start anew, and a node be so new that the server does not
// know it yet.
//
// It must not know how samples come about.
package deliver
