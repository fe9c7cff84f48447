package main

import (
	"net"
	"slices"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// validateAccess rejects an API that would be open by mistake.
func (o *options) validateAccess(reject func(flag, format string, args ...any)) {
	if (o.tlsCertFile == "") != (o.tlsKeyFile == "") {
		reject("tls-cert-file", "needs --tls-private-key-file, and that needs this")
	}
	if o.clientCAFile != "" && !o.encrypted() {
		reject("client-ca-file", "client certificates need TLS: give --tls-cert-file and --tls-private-key-file too, or --tls-self-signed")
	}
	o.selfSigned.validate(reject)
	if o.selfSigned.enabled && (o.tlsCertFile != "" || o.tlsKeyFile != "") {
		reject("tls-self-signed", "contradicts --tls-cert-file and --tls-private-key-file; leave one or the others out")
	}
	if o.insecurePlaintext && o.selfSigned.enabled {
		reject("insecure-plaintext", "contradicts --tls-self-signed; leave one of them out")
	} else if o.insecurePlaintext && o.encrypted() {
		reject("insecure-plaintext", "contradicts --tls-cert-file; leave one of them out")
	}
	if len(o.tokenAudiences) == 0 || slices.Contains(o.tokenAudiences, "") {
		reject("token-audiences", "must name at least one audience, and no empty one")
	}
	if _, _, err := net.SplitHostPort(o.grpcAddress); err != nil {
		reject("grpc-bind-address", "%q is not host:port", o.grpcAddress)
	} else if !o.encrypted() && !o.insecurePlaintext && !onLoopback(o.grpcAddress) {
		reject("grpc-bind-address", "%q can be reached from other machines, and nothing would be encrypted: give --tls-cert-file and --tls-private-key-file, "+
			"or --tls-self-signed, or use 127.0.0.1 and reach it by kubectl port-forward", o.grpcAddress)
	}
	if o.pprofAddress == "" {
		return
	}
	if _, _, err := net.SplitHostPort(o.pprofAddress); err != nil {
		reject("pprof-bind-address", "%q is not host:port", o.pprofAddress)
	} else if !o.encrypted() && !o.insecurePlaintext && !onLoopback(o.pprofAddress) {
		reject("pprof-bind-address", "%q can be reached from other machines, and nothing would be encrypted: give --tls-cert-file and --tls-private-key-file, "+
			"or --tls-self-signed, or use 127.0.0.1", o.pprofAddress)
	}
}

func (o *options) encrypted() bool {
	return o.selfSigned.enabled || o.tlsCertFile != "" && o.tlsKeyFile != ""
}

// local tells that callers of an address without credentials are programs of this
// machine.
func (o *options) local(address string) bool { return !o.encrypted() && onLoopback(address) }

// onLoopback tells that only this machine can reach the address.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// newAccess returns who may call what listens on an address: everybody on this
// machine if nobody else can, and otherwise those whom the cluster knows.
func newAccess(o *options, c *clients, address string) *access.Access {
	return access.New(access.Config{
		Tokens:    c.tokens.AuthenticationV1().TokenReviews(),
		Renewals:  c.renewals.AuthenticationV1().TokenReviews(),
		Rights:    c.rights.AuthorizationV1().SubjectAccessReviews(),
		Audiences: o.tokenAudiences,
		Local:     o.local(address),
	})
}
