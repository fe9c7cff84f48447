package selfsigned

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"slices"
	"time"
)

const (
	// authorityLife and servingLife are the validity periods of certificates. A certificate
	// is renewed after two thirds of its period.
	authorityLife = 10 * 365 * 24 * time.Hour
	servingLife   = 90 * 24 * time.Hour
	// backdate is how far a caller's clock may be behind ours.
	backdate = time.Hour
	// settle is how long callers may take to read what was published.
	settle = 24 * time.Hour
	// authorityName distinguishes our certificates from those of other actors.
	authorityName = "workload-resizer self-signed authority"
)

// withAuthority returns the content with a new authority in front of the existing ones, whose
// certificates may still be served.
func (c content) withAuthority(now time.Time) (content, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return content{}, fmt.Errorf("make the key of an authority: %w", err)
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: authorityName},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(authorityLife),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:     true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	certificate, err := sign(template, template, key, key)
	if err != nil {
		return content{}, fmt.Errorf("make an authority: %w", err)
	}
	authorities := []*x509.Certificate{certificate}
	for _, old := range c.authorities {
		if now.Before(old.NotAfter) {
			authorities = append(authorities, old)
		}
	}
	return content{authorities: authorities, key: key, serving: c.serving, issuer: c.issuer}, nil
}

// withServing returns the content with a new serving certificate, signed by the newest
// authority. If the current certificate is not due for renewal, its names are kept: during an
// update, old and new replicas may have different names, and must not undo each other's
// changes.
func (c content) withServing(names []string, now time.Time) (content, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return content{}, fmt.Errorf("make the key of a certificate: %w", err)
	}
	if c.serving != nil && !isDue(c.serving.Leaf, now) {
		names = slices.Concat(names, c.serving.Leaf.DNSNames)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	issuer := c.authorities[0]
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "workload-resizer"},
		DNSNames:  names,
		NotBefore: now.Add(-backdate), NotAfter: now.Add(servingLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := sign(template, issuer, key, c.key)
	if err != nil {
		return content{}, fmt.Errorf("make a certificate: %w", err)
	}
	c.serving = &tls.Certificate{Certificate: [][]byte{certificate.Raw}, PrivateKey: key, Leaf: certificate}
	c.issuer = issuer
	return c, nil
}

func sign(template, issuer *x509.Certificate, key, issuerKey *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), issuerKey)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}
