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
	// authorityLife and servingLife are how long certificates are valid; both are
	// renewed when two thirds of that are over.
	authorityLife = 10 * 365 * 24 * time.Hour
	servingLife   = 90 * 24 * time.Hour
	// backdate is how much slower than ours a caller's clock may be.
	backdate = time.Hour
	// settle is how long callers may take to read what was published.
	settle = 24 * time.Hour
	// authorityName is how a certificate of ours is told from somebody else's.
	authorityName = "workload-resizer self-signed authority"
)

// withAuthority is the content with a new authority before those that there are,
// whose certificates may still be served.
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

// withServing is the content with a new serving certificate, which the newest
// authority signs. Until the present one is due, its names stay: replicas that are
// being replaced may have others, and must not undo each other's work.
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
