// Package streams has the common parts of long calls. They end even if their caller does not
// read. If they are watches, they send the content of a log of changes, from the current
// state or from a token, for as long as the caller has the right to them.
//
// It must not know what is sent.
package streams
