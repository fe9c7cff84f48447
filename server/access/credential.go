package access

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"strings"
)

const (
	// credentialIDKey is the attribute with the ID of the credential. The API server sets it
	// for tokens of ServiceAccounts ("JTI=" and the ID of the token) and for certificates.
	credentialIDKey = "authentication.kubernetes.io/credential-id"
	// maxCredentialID is the maximum length of an ID, in bytes.
	maxCredentialID = 256
)

// Credential returns the ID of the caller's credential, as the audit log of the API server
// names it: up to 256 characters of printable ASCII, without spaces. It is empty if there is
// none, or another one. People who share an account have different credentials.
func (c *Caller) Credential() string {
	ids := c.Extra[credentialIDKey]
	if len(ids) != 1 || len(ids[0]) > maxCredentialID || strings.ContainsFunc(ids[0], func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return ids[0]
}

// certificateID returns the ID of a certificate, in the form of the API server.
func certificateID(of *x509.Certificate) string {
	sum := sha256.Sum256(of.Raw)
	return "X509SHA256=" + hex.EncodeToString(sum[:])
}

// Described returns the caller of ctx for a log: its name and, if there is one, the ID of its
// credential, e.g. "ann (JTI=1)".
func Described(ctx context.Context) string {
	id := identityOf(ctx)
	if credential := id.Credential(); credential != "" {
		return id.String() + " (" + credential + ")"
	}
	return id.String()
}

// Credential returns the ID of the credential of ctx's caller, for the record of a change.
func Credential(ctx context.Context) string {
	id := identityOf(ctx)
	return id.Credential()
}
