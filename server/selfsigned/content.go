package selfsigned

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"slices"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Keys of the Secret. The ConfigMap has only the first.
const (
	authoritiesKey  = "ca.crt"
	authorityKeyKey = "ca.key"
	servingKey      = "tls.crt"
	servingKeyKey   = "tls.key"
)

// content is the parsed content of the Secret.
type content struct {
	// authorities are the trusted authorities, newest first. The newest one signs.
	authorities []*x509.Certificate
	// key is the key of the newest authority, nil if it is not known.
	key *ecdsa.PrivateKey
	// serving is the certificate of the server, with its Leaf; nil if there is none that
	// callers can verify. issuer is the authority that signed it.
	serving *tls.Certificate
	issuer  *x509.Certificate
}

// errForeign means that another actor has made a certificate.
var errForeign = errors.New("was not created by this server and is not replaced: delete the content of the Secret to get a new certificate, " +
	"or serve this one from files with --tls-cert-file and --tls-private-key-file")

// isOurs reports whether an authority with this name was created by this server.
func isOurs(name pkix.Name) bool { return name.CommonName == authorityName }

// foreign returns the error for what the Secret has under a key if its authority is not ours.
func foreign(key, what string, authority pkix.Name) error {
	return fmt.Errorf("%s: the %s %q %w", key, what, authority, errForeign)
}

// parse reads the content of the Secret. Parts that cannot be used are missing in the result,
// and the error states why. The error is errForeign if nothing may be replaced. trusted are
// authorities that were good before.
func parse(data map[string][]byte, trusted []*x509.Certificate, now time.Time) (content, error) {
	var c content
	var faults []error
	if pem := data[authoritiesKey]; len(pem) > 0 {
		var err error
		if c.authorities, err = certutil.ParseCertsPEM(pem); err != nil {
			faults = append(faults, fmt.Errorf("%s cannot be read: %w", authoritiesKey, err))
		}
	}
	for _, authority := range c.authorities {
		if !authority.IsCA || !isOurs(authority.Subject) {
			return content{}, foreign(authoritiesKey, "authority", authority.Subject)
		}
	}
	if pem := data[authorityKeyKey]; len(pem) > 0 && len(c.authorities) > 0 {
		if err := c.readKey(pem); err != nil {
			faults = append(faults, fmt.Errorf("%s cannot be used: %w", authorityKeyKey, err))
		}
	} else if len(pem) > 0 || len(c.authorities) > 0 {
		faults = append(faults, fmt.Errorf("%s and %s are not both set", authoritiesKey, authorityKeyKey))
	}
	if c.key == nil {
		// Authorities whose certificates may still be served.
		for _, authority := range trusted {
			if !slices.ContainsFunc(c.authorities, authority.Equal) {
				c.authorities = append(c.authorities, authority)
			}
		}
	}
	if len(data[servingKey])+len(data[servingKeyKey]) > 0 {
		err := c.readServing(data[servingKey], data[servingKeyKey], now)
		if errors.Is(err, errForeign) {
			return content{}, err
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	return c, errors.Join(faults...)
}

func (c *content) readKey(pem []byte) error {
	parsed, err := keyutil.ParsePrivateKeyPEM(pem)
	if err != nil {
		return errors.New("not a private key in PEM format")
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !key.PublicKey.Equal(c.authorities[0].PublicKey) {
		return fmt.Errorf("not the key of the first certificate in %s", authoritiesKey)
	}
	c.key = key
	return nil
}

func (c *content) readServing(certificate, key []byte, now time.Time) error {
	chain, err := certutil.ParseCertsPEM(certificate)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", servingKey, err)
	}
	leaf := chain[0]
	if !isOurs(leaf.Issuer) {
		return foreign(servingKey, "certificate signed by", leaf.Issuer)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("%s and %s cannot be used: %w", servingKey, servingKeyKey, err)
	}
	if !now.Before(leaf.NotAfter) {
		return fmt.Errorf("%s expired at %s", servingKey, leaf.NotAfter.Format(time.RFC3339))
	}
	for _, authority := range c.authorities {
		if leaf.CheckSignatureFrom(authority) == nil {
			c.serving, c.issuer = &pair, authority
			return nil
		}
	}
	return fmt.Errorf("%s is signed by an authority that is not in %s", servingKey, authoritiesKey)
}

// bundle returns the authorities that callers must trust.
func (c *content) bundle() ([]byte, error) {
	pem, err := certutil.EncodeCertificates(c.authorities...)
	if err != nil {
		return nil, fmt.Errorf("encode the authorities: %w", err)
	}
	return pem, nil
}

// data returns the content in the form of the Secret.
func (c *content) data() (map[string][]byte, error) {
	authorities, err := c.bundle()
	if err != nil {
		return nil, err
	}
	key, err := keyutil.MarshalPrivateKeyToPEM(c.key)
	if err != nil {
		return nil, fmt.Errorf("encode the key of the authority: %w", err)
	}
	data := map[string][]byte{authoritiesKey: authorities, authorityKeyKey: key, servingKey: nil, servingKeyKey: nil}
	if c.serving == nil {
		return data, nil
	}
	if data[servingKey], err = certutil.EncodeCertificates(c.serving.Leaf); err != nil {
		return nil, fmt.Errorf("encode the certificate: %w", err)
	}
	if data[servingKeyKey], err = keyutil.MarshalPrivateKeyToPEM(c.serving.PrivateKey); err != nil {
		return nil, fmt.Errorf("encode the key of the certificate: %w", err)
	}
	return data, nil
}
