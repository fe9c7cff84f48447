package access

import (
	"crypto/x509"
	"fmt"
	"time"
)

// authenticated is the group that Kubernetes has every known user in.
const authenticated = "system:authenticated"

// fromCertificate reads a client certificate that was verified when the
// connection began, as the API server does: the common name is the user's name,
// the organizations are the groups.
func (a *Access) fromCertificate(leaf *x509.Certificate) (*identity, error) {
	// Connections may live longer than the certificates they began with.
	if a.config.Clock.Now().After(leaf.NotAfter) {
		return nil, invalid(fmt.Sprintf("the client certificate has expired on %s: connect with a new one", leaf.NotAfter.UTC().Format(time.RFC3339)))
	}
	// The certificate is the same in memory as long as its connection lives.
	if id, ok := a.identities.Get(leaf); ok {
		return id.(*identity), nil
	}
	if leaf.Subject.CommonName == "" {
		return nil, invalid("the client certificate has no common name, which is to be the user's name")
	}
	id := newIdentity(Caller{Name: leaf.Subject.CommonName, Groups: append([]string{authenticated}, leaf.Subject.Organization...)})
	a.identities.Add(leaf, id, remembered)
	return id, nil
}
