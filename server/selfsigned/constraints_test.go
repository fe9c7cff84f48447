package selfsigned

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"strings"
	"testing"
	"time"
)

func TestConstraints(t *testing.T) {
	t.Run("a stolen authority impersonates nothing else", aStolenAuthorityImpersonatesNothingElse)
	t.Run("a certificate does not outlive its authority", aCertificateDoesNotOutliveItsAuthority)
	t.Run("an authority without constraints is replaced", anAuthorityWithoutConstraintsIsReplaced)
}

// verify verifies a leaf, signed by the authority, for a host, as clients do.
func verify(authority, leaf *x509.Certificate, host string) error {
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err
}

func aStolenAuthorityImpersonatesNothingElse(t *testing.T) {
	now := time.Now()
	names := []string{host, host + ".cluster.local"}
	c := must(t)(must(t)(content{}.withAuthority(names, now)).withServing(names, now))
	authority := c.authorities[0]
	forge := func(change func(*x509.Certificate)) *x509.Certificate {
		t.Helper()
		template := &x509.Certificate{Subject: pkix.Name{CommonName: "workload-resizer"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
		change(template)
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		forged, err := sign(template, authority, key, c.key)
		if err != nil {
			t.Fatal(err)
		}
		return forged
	}
	for _, tc := range []struct {
		name, host string
		leaf       *x509.Certificate
		good       bool
	}{
		{"the server's own", host, c.serving.Leaf, true},
		{"the server's own, by its longer name", host + ".cluster.local", c.serving.Leaf, true},
		{"the same name", host, forge(func(f *x509.Certificate) { f.DNSNames = []string{host} }), true},
		{"another service", "other.workload-resizer-system.svc", forge(func(f *x509.Certificate) { f.DNSNames = []string{"other.workload-resizer-system.svc"} }), false},
		{"the API server", "kubernetes.default.svc", forge(func(f *x509.Certificate) { f.DNSNames = []string{host, "kubernetes.default.svc"} }), false},
		{"a name that ends alike", "evil-" + host, forge(func(f *x509.Certificate) { f.DNSNames = []string{"evil-" + host} }), false},
		{"an address", "10.96.0.1", forge(func(f *x509.Certificate) {
			f.DNSNames, f.IPAddresses = []string{host}, []net.IP{net.IPv4(10, 96, 0, 1)}
		}), false},
		{"an IPv6 address", "fd00::1", forge(func(f *x509.Certificate) { f.IPAddresses = []net.IP{net.ParseIP("fd00::1")} }), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := verify(authority, tc.leaf, tc.host); (err == nil) != tc.good {
				t.Errorf("verified: %v; want success: %t", err, tc.good)
			}
		})
	}
	t.Run("a user", func(t *testing.T) {
		leaf := forge(func(f *x509.Certificate) {
			f.Subject, f.ExtKeyUsage = pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		})
		roots := x509.NewCertPool()
		roots.AddCert(authority)
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err == nil || !strings.Contains(err.Error(), "usage") {
			t.Errorf("got %v, want a refusal of the usage", err)
		}
	})
}

func aCertificateDoesNotOutliveItsAuthority(t *testing.T) {
	begin := time.Now()
	c := must(t)(content{}.withAuthority([]string{host}, begin))
	for _, after := range []time.Duration{0, authorityLife / 3 * 2, authorityLife - time.Hour} {
		signed := must(t)(c.withServing([]string{host}, begin.Add(after)))
		if end := signed.serving.Leaf.NotAfter; end.After(c.authorities[0].NotAfter) || end.After(begin.Add(after+servingLife)) {
			t.Errorf("signed after %s, the certificate ends at %s, the authority at %s", after, end, c.authorities[0].NotAfter)
		}
	}
}

// An earlier version created authorities for ten years and for any name.
func anAuthorityWithoutConstraintsIsReplaced(t *testing.T) {
	now := time.Now()
	c := must(t)(must(t)(content{}.withAuthority(nil, now)).withServing([]string{host}, now))
	if len(c.authorities[0].PermittedDNSDomains) > 0 {
		t.Fatalf("the authority permits %v", c.authorities[0].PermittedDNSDomains)
	}
	if got := c.next([]string{host}, true, now); got != renewAuthority {
		t.Errorf("step %d, want a new authority", got)
	}
	next := must(t)(c.withAuthority([]string{host}, now))
	if got := next.next([]string{host}, true, now.Add(settle-time.Hour)); got != nothing {
		t.Errorf("step %d before callers know the new authority", got)
	}
}
