package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"time"

	"google.golang.org/grpc"
)

// Option changes how Dial and DialCluster set up a Client.
type Option func(*options)

type options struct {
	timeout   time.Duration
	userAgent string
	tls       tlsOptions
	plaintext bool
	token     TokenFunc
	cluster   clusterOptions
	// extra is what a way to reach the server adds to the gRPC connection.
	extra []grpc.DialOption
	// unauthenticated, if set, tells people what to do when the server does not
	// know who asks.
	unauthenticated string
}

type tlsOptions struct {
	wanted      bool
	caFile      string
	authorities *x509.CertPool
	serverName  string
	certificate func(*tls.CertificateRequestInfo) (*tls.Certificate, error)
}

// TokenFunc returns the bearer token of a call. It is called for every call, and
// an error fails the call as UNAUTHENTICATED.
type TokenFunc func(context.Context) (string, error)

func optionsOf(opts []Option) options {
	o := options{timeout: DefaultTimeout, cluster: defaultClusterOptions()}
	for _, set := range opts {
		set(&o)
	}
	return o
}

// WithDefaultTimeout replaces DefaultTimeout; 0 lets a call without a deadline
// take as long as it takes.
func WithDefaultTimeout(d time.Duration) Option {
	return func(o *options) { o.timeout = d }
}

// WithUserAgent names the calling program to the server, e.g. "resizectl/v1.2.3".
func WithUserAgent(name string) Option {
	return func(o *options) { o.userAgent = name }
}

// WithTLS encrypts the connection also where the server is on this machine. The
// server's certificate has to be from an authority that the system trusts, unless
// another option says otherwise.
func WithTLS() Option {
	return func(o *options) { o.tls.wanted = true }
}

// WithCAFile trusts the authorities of a PEM file instead of the system's. It is
// read once, by Dial. It implies WithTLS.
func WithCAFile(path string) Option {
	return func(o *options) { o.tls.wanted, o.tls.caFile = true, path }
}

// WithCAPool trusts these authorities instead of the system's. It implies WithTLS.
func WithCAPool(authorities *x509.CertPool) Option {
	return func(o *options) { o.tls.wanted, o.tls.authorities = true, authorities }
}

// WithServerName is the name that the server's certificate has to be for, instead
// of the host of its address. It implies WithTLS.
func WithServerName(name string) Option {
	return func(o *options) { o.tls.wanted, o.tls.serverName = true, name }
}

// WithClientCertificate proves who asks by a certificate and its key, two PEM
// files. They are read for each new connection, so they may be renewed. It implies
// WithTLS.
func WithClientCertificate(certFile, keyFile string) Option {
	return func(o *options) { o.tls.wanted, o.tls.certificate = true, certificateOf(certFile, keyFile) }
}

// WithToken proves who asks by a bearer token.
func WithToken(token string) Option {
	return WithTokenFunc(func(context.Context) (string, error) { return token, nil })
}

// WithTokenFile proves who asks by the bearer token in a file. It is read for
// every call: the tokens that Kubernetes projects into pods are renewed in place.
func WithTokenFile(path string) Option {
	return WithTokenFunc(tokenOf(path))
}

// WithTokenFunc proves who asks by the bearer token that token returns.
func WithTokenFunc(token TokenFunc) Option {
	return func(o *options) { o.token = token }
}

// WithPlaintext encrypts nothing, wherever the server is. Whoever is on the way
// can read and change everything, so a token goes to a server on this machine
// only, and is an error for any other.
func WithPlaintext() Option {
	return func(o *options) { o.plaintext = true }
}
