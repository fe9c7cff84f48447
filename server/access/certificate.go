package access

import (
	"crypto/x509"
	"fmt"
	"time"
)

// authenticated is the group of all authenticated users in Kubernetes.
const authenticated = "system:authenticated"

// fromCertificate reads a client certificate that was verified when the connection began. As
// in the API server, the common name is the user name, the organizations are the groups, and the
// hash of the certificate is the ID of the credential.
func (a *Access) fromCertificate(leaf *x509.Certificate) (*identity, error) {
	// A connection can outlive the certificate it began with.
	if a.config.Clock.Now().After(leaf.NotAfter) {
		return nil, invalid(fmt.Sprintf("the client certificate expired on %s: connect with a new one", leaf.NotAfter.UTC().Format(time.RFC3339)))
	}
	// The certificate is the same object for the lifetime of its connection.
	if id, ok := a.identities.Get(leaf); ok {
		return id.(*identity), nil
	}
	if leaf.Subject.CommonName == "" {
		return nil, invalid("the client certificate has no common name, which is used as the user name")
	}
	id := newIdentity(Caller{
		Name: leaf.Subject.CommonName, Groups: append([]string{authenticated}, leaf.Subject.Organization...),
		Extra: map[string][]string{credentialIDKey: {certificateID(leaf)}},
	})
	a.identities.Add(leaf, id, remembered)
	return id, nil
}
