// Package selfsigned maintains a serving certificate and the authority that signs it, for
// clusters where nothing else issues certificates. All replicas share them in one Secret, and
// callers find the authority in one ConfigMap. Both objects must exist. A replica that finds
// them empty, or the certificate due for renewal, writes them with the resource version that
// it has read. If another replica was faster, it uses what that replica has written.
//
// An authority is published before it signs, so that callers can verify every certificate
// with what is published at that time.
//
// It must not know who the callers are, nor what is served.
package selfsigned
