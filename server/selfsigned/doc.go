// Package selfsigned keeps a serving certificate and the authority that signs it,
// where nothing else makes certificates. All replicas share them in one Secret, and
// callers find the authority in one ConfigMap. Both exist already: whoever finds
// them empty, or due, writes them by the resource version that it has seen, and who
// is slower takes what the other has written.
//
// An authority is published before it signs, so that nobody meets a certificate
// that could not be verified by what was published at the time.
//
// It must not know who the callers are, nor what is served.
package selfsigned
