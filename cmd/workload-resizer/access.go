package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/certs"
)

// certsPeriod is how old what is known of the TLS files may be.
const certsPeriod = 10 * time.Second

// validateAccess rejects an API that would be open by mistake.
func (o *options) validateAccess(reject func(flag, format string, args ...any)) {
	if (o.tlsCertFile == "") != (o.tlsKeyFile == "") {
		reject("tls-cert-file", "needs --tls-private-key-file, and that needs this")
	}
	if o.clientCAFile != "" && !o.encrypted() {
		reject("client-ca-file", "client certificates need TLS: give --tls-cert-file and --tls-private-key-file too")
	}
	if o.insecurePlaintext && o.encrypted() {
		reject("insecure-plaintext", "contradicts --tls-cert-file; leave one of them out")
	}
	if len(o.tokenAudiences) == 0 || slices.Contains(o.tokenAudiences, "") {
		reject("token-audiences", "must name at least one audience, and no empty one")
	}
	if _, _, err := net.SplitHostPort(o.grpcAddress); err != nil {
		reject("grpc-bind-address", "%q is not host:port", o.grpcAddress)
	} else if !o.encrypted() && !o.insecurePlaintext && !onLoopback(o.grpcAddress) {
		reject("grpc-bind-address", "%q can be reached from other machines, and nothing would be encrypted: give --tls-cert-file and --tls-private-key-file, "+
			"or use 127.0.0.1 and reach it by kubectl port-forward", o.grpcAddress)
	}
}

func (o *options) encrypted() bool { return o.tlsCertFile != "" && o.tlsKeyFile != "" }

// local tells that callers without credentials are programs of this machine.
func (o *options) local() bool { return !o.encrypted() && onLoopback(o.grpcAddress) }

// onLoopback tells that only this machine can reach the address.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// newAccess returns who may call the API: everybody on this machine if nobody
// else can, and otherwise those whom the cluster knows.
func newAccess(o *options, c *clients) *access.Access {
	return access.New(access.Config{
		Tokens:    c.tokens.AuthenticationV1().TokenReviews(),
		Renewals:  c.renewals.AuthenticationV1().TokenReviews(),
		Rights:    c.rights.AuthorizationV1().SubjectAccessReviews(),
		Audiences: o.tokenAudiences,
		Local:     o.local(),
	})
}

// newTLS returns what the API is encrypted with, nil for plaintext.
func newTLS(o *options) (*tls.Config, error) {
	if !o.encrypted() {
		return nil, nil
	}
	source, err := certs.New(certs.Files{Certificate: o.tlsCertFile, PrivateKey: o.tlsKeyFile, ClientCA: o.clientCAFile}, certsPeriod)
	if err != nil {
		return nil, fmt.Errorf("set up TLS: %w", err)
	}
	return source.Config(), nil
}
