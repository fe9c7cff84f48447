package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// credentialsFor returns the transport credentials for a server whose certificate is for
// host, unless an option names another host.
func (o *tlsOptions) credentialsFor(host string) (credentials.TransportCredentials, error) {
	config := &tls.Config{
		MinVersion:           tls.VersionTLS12,
		ServerName:           host,
		RootCAs:              o.authorities,
		GetClientCertificate: o.certificate,
	}
	if o.serverName != "" {
		config.ServerName = o.serverName
	}
	if o.caFile != "" {
		if o.authorities != nil || o.readAuthorities != nil {
			return nil, errors.New("WithCAFile cannot be combined with WithCAPool or WithPublishedCA")
		}
		o.readAuthorities = func(context.Context) (*x509.CertPool, error) { return authoritiesIn(o.caFile) }
		var err error
		if config.RootCAs, err = authoritiesIn(o.caFile); err != nil {
			return nil, fmt.Errorf("read the certificate authority of the server: %w", err)
		}
	}
	if o.readAuthorities != nil {
		return &rereading{credentials.NewTLS(config), config, o.readAuthorities}, nil
	}
	return credentials.NewTLS(config), nil
}

// rereading is TLS that reads the authorities again for each connection: an authority is
// replaced every few weeks, while a program may run for longer. If they cannot be read, those
// from the start count, if there were any.
type rereading struct {
	credentials.TransportCredentials
	config *tls.Config
	read   func(context.Context) (*x509.CertPool, error)
}

// ClientHandshake implements credentials.TransportCredentials.
func (r *rereading) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	config := r.config.Clone()
	switch fresh, err := r.read(ctx); {
	case err == nil:
		config.RootCAs = fresh
	case config.RootCAs == nil:
		return nil, nil, fmt.Errorf("find the certificate authority of the server: %w", err)
	}
	return credentials.NewTLS(config).ClientHandshake(ctx, authority, conn)
}

// Clone implements credentials.TransportCredentials.
func (r *rereading) Clone() credentials.TransportCredentials {
	return &rereading{r.TransportCredentials.Clone(), r.config.Clone(), r.read}
}

// publishedFor is how long authorities count before they are read again. A server publishes an
// authority before it uses it, and thousands of clients may look for another replica every few
// seconds.
const publishedFor = 5 * time.Minute

// publishedCA is the authorities in a ConfigMap.
type publishedCA struct {
	config          *rest.Config
	namespace, name string

	mu    sync.Mutex
	known *x509.CertPool
	at    time.Time
}

// read returns the authorities. If the API server does not answer, those that it last returned
// count.
func (p *publishedCA) read(ctx context.Context) (*x509.CertPool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known != nil && time.Since(p.at) < publishedFor {
		return p.known, nil
	}
	core, err := corev1client.NewForConfig(p.config)
	if err != nil {
		return nil, fmt.Errorf("create a client for the API server: %w", err)
	}
	fresh, err := publishedAuthorities(ctx, core, p.namespace, p.name)
	switch {
	case err == nil:
		p.known, p.at = fresh, time.Now()
	case p.known == nil:
		return nil, err
	}
	return p.known, nil
}

func authoritiesIn(file string) (*x509.CertPool, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	authorities, err := authoritiesOf(content)
	if err != nil {
		return nil, fmt.Errorf("%s %w", file, err)
	}
	return authorities, nil
}

func authoritiesOf(pem []byte) (*x509.CertPool, error) {
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(pem) {
		return nil, errors.New("contains no PEM certificate")
	}
	return authorities, nil
}

// certificateOf returns a function that reads the files for each handshake.
func certificateOf(certFile, keyFile string) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, fmt.Errorf("load the client certificate: %w", err)
		}
		return &certificate, nil
	}
}
