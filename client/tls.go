package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc/credentials"
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
		if o.authorities != nil {
			return nil, errors.New("WithCAFile cannot be combined with WithCAPool")
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
// from the start count.
type rereading struct {
	credentials.TransportCredentials
	config *tls.Config
	read   func(context.Context) (*x509.CertPool, error)
}

// ClientHandshake implements credentials.TransportCredentials.
func (r *rereading) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	config := r.config.Clone()
	if fresh, err := r.read(ctx); err == nil {
		config.RootCAs = fresh
	}
	return credentials.NewTLS(config).ClientHandshake(ctx, authority, conn)
}

// Clone implements credentials.TransportCredentials.
func (r *rereading) Clone() credentials.TransportCredentials {
	return &rereading{r.TransportCredentials.Clone(), r.config.Clone(), r.read}
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
