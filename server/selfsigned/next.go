package selfsigned

import (
	"crypto/x509"
	"slices"
	"time"
)

// step is one write.
type step int

const (
	nothing step = iota
	// renewAuthority puts a new authority before the others, into the Secret.
	renewAuthority
	// publish puts the authorities of the Secret into the ConfigMap.
	publish
	// renewServing has the newest authority sign a new serving certificate, into
	// the Secret.
	renewServing
	// dropAuthorities leaves none but the newest, in the Secret.
	dropAuthorities
)

// next is what is to be written now, one thing at a time: what was published before
// it is used. published tells that the ConfigMap has the authorities of the Secret.
func (c *content) next(names []string, published bool, now time.Time) step {
	if c.key == nil || isDue(c.authorities[0], now) {
		return renewAuthority
	}
	newest := c.authorities[0]
	due := c.serving == nil || c.issuer != newest || isDue(c.serving.Leaf, now) || !c.isFor(names)
	switch {
	case due && c.issuer == newest:
		// Callers know this authority already.
		return renewServing
	case !published:
		return publish
	case due && (c.serving == nil || hasSettled(newest, now)):
		return renewServing
	case !due && len(c.authorities) > 1 && hasSettled(c.serving.Leaf, now):
		return dropAuthorities
	}
	return nothing
}

// isFor tells that the serving certificate is for all names.
func (c *content) isFor(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(c.serving.Leaf.DNSNames, name) })
}

// isDue tells that two thirds of a certificate's time are over.
func isDue(certificate *x509.Certificate, now time.Time) bool {
	life := certificate.NotAfter.Sub(certificate.NotBefore)
	return !now.Before(certificate.NotBefore.Add(life / 3 * 2))
}

// hasSettled tells that a certificate was made so long ago that all callers and
// replicas know it.
func hasSettled(certificate *x509.Certificate, now time.Time) bool {
	return !now.Before(certificate.NotBefore.Add(backdate + settle))
}
