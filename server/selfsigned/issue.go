package selfsigned

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"slices"
	"time"
)

const (
	// authorityLife and servingLife are the validity periods of certificates. A certificate
	// is renewed after two thirds of its period, and does not outlive its authority.
	authorityLife = 90 * 24 * time.Hour
	servingLife   = 30 * 24 * time.Hour
	// backdate is how far a caller's clock may be behind ours.
	backdate = time.Hour
	// settle is how long callers may take to read what was published.
	settle = 24 * time.Hour
	// authorityName distinguishes our certificates from those of other actors.
	authorityName = "workload-resizer self-signed authority"
)

// everyAddress has all IP addresses, of both versions.
var everyAddress = []*net.IPNet{
	{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)},
	{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)},
}

// withAuthority returns the content with a new authority in front of the existing ones, whose
// certificates may still be served. The authority can sign certificates of servers for these
// names only, so that a stolen key impersonates nothing else. If the current authority is not
// due for renewal, its names are kept: during an update, old and new replicas may have
// different names, and must not undo each other's changes.
func (c content) withAuthority(names []string, now time.Time) (content, error) {
	if c.key != nil && !isDue(c.authorities[0], now) {
		names = union(names, c.authorities[0].PermittedDNSDomains)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return content{}, fmt.Errorf("make the key of an authority: %w", err)
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: authorityName},
		NotBefore: now.Add(-backdate), NotAfter: now.Add(authorityLife),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:     true, BasicConstraintsValid: true, MaxPathLenZero: true,
		ExtKeyUsage:                 []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: names, ExcludedIPRanges: everyAddress,
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
// authority. If the current certificate is not due for renewal, its names are kept as far as
// the authority permits them, for the same reason as in withAuthority.
func (c content) withServing(names []string, now time.Time) (content, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return content{}, fmt.Errorf("make the key of a certificate: %w", err)
	}
	issuer := c.authorities[0]
	if c.serving != nil && !isDue(c.serving.Leaf, now) {
		names = slices.DeleteFunc(union(names, c.serving.Leaf.DNSNames), func(name string) bool { return !permits(issuer, name) })
	}
	end := now.Add(servingLife)
	if end.After(issuer.NotAfter) {
		end = issuer.NotAfter
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "workload-resizer"},
		DNSNames:  names,
		NotBefore: now.Add(-backdate), NotAfter: end,
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

// union returns the names of both, sorted.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// permits reports whether the authority can sign a certificate for the name. Authorities
// without constraints, which other versions created, are replaced.
func permits(authority *x509.Certificate, name string) bool {
	return slices.Contains(authority.PermittedDNSDomains, name)
}

func sign(template, issuer *x509.Certificate, key, issuerKey *ecdsa.PrivateKey) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), issuerKey)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}
