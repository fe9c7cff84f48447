package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
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
		content, err := os.ReadFile(o.caFile)
		if err != nil {
			return nil, fmt.Errorf("read the certificate authority of the server: %w", err)
		}
		if config.RootCAs, err = authoritiesOf(content); err != nil {
			return nil, fmt.Errorf("read the certificate authority of the server: %s %w", o.caFile, err)
		}
	}
	return credentials.NewTLS(config), nil
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
