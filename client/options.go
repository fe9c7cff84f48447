package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"k8s.io/client-go/rest"
)

// Option changes how Dial and DialCluster set up a Client.
type Option func(*options)

type options struct {
	timeout   time.Duration
	userAgent string
	author    string
	tls       tlsOptions
	plaintext bool
	token     TokenFunc
	cluster   clusterOptions
	// extra has options of the gRPC connection that depend on how the server is reached.
	extra []grpc.DialOption
	// unauthenticated, if set, is what the user can do if the server cannot authenticate
	// the caller.
	unauthenticated string
}

type tlsOptions struct {
	wanted      bool
	caFile      string
	authorities *x509.CertPool
	// readAuthorities, if set, returns the current authorities.
	readAuthorities func(context.Context) (*x509.CertPool, error)
	serverName      string
	certificate     func(*tls.CertificateRequestInfo) (*tls.Certificate, error)
}

// TokenFunc returns the bearer token for a call. It is called for every call, and an error
// fails the call as UNAUTHENTICATED.
type TokenFunc func(context.Context) (string, error)

func optionsOf(opts []Option) options {
	o := options{timeout: DefaultTimeout, cluster: defaultClusterOptions()}
	for _, set := range opts {
		set(&o)
	}
	return o
}

// WithDefaultTimeout replaces DefaultTimeout. With 0, a call without a deadline has no time
// limit.
func WithDefaultTimeout(d time.Duration) Option {
	return func(o *options) { o.timeout = d }
}

// WithLongestPause sets how long the client waits before it tries again to reach a server that it could not reach,
// give or take a fifth. Without it, the pauses grow to two minutes. It is for programs that show people the state of a
// server: it must not be short where there are many clients.
func WithLongestPause(d time.Duration) Option {
	pauses := backoff.DefaultConfig
	pauses.BaseDelay, pauses.MaxDelay = min(pauses.BaseDelay, d), d
	return func(o *options) {
		o.extra = append(o.extra, grpc.WithConnectParams(grpc.ConnectParams{Backoff: pauses, MinConnectTimeout: connectTimeout}))
	}
}

// connectTimeout is how long it may take to connect before another attempt begins: gRPC's own.
const connectTimeout = 20 * time.Second

// WithUserAgent names the calling program to the server, e.g. "resizectl/v1.2.3".
func WithUserAgent(name string) Option {
	return func(o *options) { o.userAgent = name }
}

// WithAuthor names the author of changes, for a server that does not authenticate its callers. The
// name is not sent if the connection sends credentials, because the server then knows the author.
func WithAuthor(name string) Option {
	return func(o *options) { o.author = name }
}

// WithMethods refuses all calls of methods other than these, named as in
// "/workloadresizer.v1.StatusService/GetStatus", as PERMISSION_DENIED and before anything is sent. It is
// for programs that must not change anything.
func WithMethods(names ...string) Option {
	return func(o *options) {
		o.extra = append(o.extra, grpc.WithChainUnaryInterceptor(onlyUnary(names)), grpc.WithChainStreamInterceptor(onlyStreams(names)))
	}
}

// WithTLS encrypts the connection even if the server is on this machine. The server's
// certificate must be from an authority that the system trusts, unless another option says
// otherwise.
func WithTLS() Option {
	return func(o *options) { o.tls.wanted = true }
}

// WithCAFile trusts the authorities in a PEM file instead of the system's. The file is read
// again for each connection. It implies WithTLS.
func WithCAFile(path string) Option {
	return func(o *options) { o.tls.wanted, o.tls.caFile = true, path }
}

// WithCAPool trusts these authorities instead of the system's. It implies WithTLS.
func WithCAPool(authorities *x509.CertPool) Option {
	return func(o *options) { o.tls.wanted, o.tls.authorities = true, authorities }
}

// WithPublishedCA trusts the authorities that a server publishes in a ConfigMap, such as
// AuthorityConfigMap in DefaultNamespace, instead of the system's. The ConfigMap is read from the
// API server of config for new connections, at most every few minutes. It implies WithTLS.
func WithPublishedCA(config *rest.Config, namespace, name string) Option {
	published := &publishedCA{config: config, namespace: namespace, name: name}
	return func(o *options) { o.tls.wanted, o.tls.readAuthorities = true, published.read }
}

// WithServerName sets the name that the server's certificate must be for, instead of the
// host of its address. It implies WithTLS.
func WithServerName(name string) Option {
	return func(o *options) { o.tls.wanted, o.tls.serverName = true, name }
}

// WithClientCertificate authenticates with a certificate and its key, two PEM files. They
// are read for each new connection, so they may be renewed. It implies WithTLS.
func WithClientCertificate(certFile, keyFile string) Option {
	return func(o *options) { o.tls.wanted, o.tls.certificate = true, certificateOf(certFile, keyFile) }
}

// WithToken authenticates with a bearer token.
func WithToken(token string) Option {
	return WithTokenFunc(func(context.Context) (string, error) { return token, nil })
}

// WithTokenFile authenticates with the bearer token in a file. The file is read for every
// call, because the tokens that Kubernetes projects into pods are renewed in place.
func WithTokenFile(path string) Option {
	return WithTokenFunc(tokenOf(path))
}

// WithTokenFunc authenticates with the bearer token that token returns.
func WithTokenFunc(token TokenFunc) Option {
	return func(o *options) { o.token = token }
}

// WithPlaintext disables TLS, wherever the server is. Anyone on the network path can read
// and change everything, so a token is allowed only for a server on this machine, and is an
// error for any other.
func WithPlaintext() Option {
	return func(o *options) { o.plaintext = true }
}
