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
	// renewAuthority adds a new authority in front of the others, in the Secret.
	renewAuthority
	// publish copies the authorities of the Secret to the ConfigMap.
	publish
	// renewServing creates a new serving certificate signed by the newest authority, in the
	// Secret.
	renewServing
	// dropAuthorities removes all authorities except for the newest, in the Secret.
	dropAuthorities
)

// next returns the next write. There is one at a time, and an authority is published before
// it is used. published means that the ConfigMap has the authorities of the Secret.
func (c *content) next(names []string, published bool, now time.Time) step {
	forbidden := func(name string) bool { return !permits(c.authorities[0], name) }
	if c.key == nil || isDue(c.authorities[0], now) || slices.ContainsFunc(names, forbidden) {
		return renewAuthority
	}
	newest := c.authorities[0]
	due := c.serving == nil || c.issuer != newest || isDue(c.serving.Leaf, now) || !c.isFor(names)
	switch {
	case due && c.issuer == newest:
		// Callers already know this authority.
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

// isFor reports whether the serving certificate is for all names.
func (c *content) isFor(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(c.serving.Leaf.DNSNames, name) })
}

// isDue reports whether two thirds of a certificate's validity period have passed.
func isDue(certificate *x509.Certificate, now time.Time) bool {
	life := certificate.NotAfter.Sub(certificate.NotBefore)
	return !now.Before(certificate.NotBefore.Add(life / 3 * 2))
}

// hasSettled reports whether a certificate was created so long ago that all callers and
// replicas know it.
func hasSettled(certificate *x509.Certificate, now time.Time) bool {
	return !now.Before(certificate.NotBefore.Add(backdate + settle))
}
