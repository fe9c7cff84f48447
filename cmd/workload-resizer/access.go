package main

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/server/access"
)

// validateAccess rejects flags that would leave the API open by mistake.
func (o *options) validateAccess(reject func(flag, format string, args ...any)) {
	if (o.tlsCertFile == "") != (o.tlsKeyFile == "") {
		reject("tls-cert-file", "requires --tls-private-key-file, and vice versa")
	}
	if o.clientCAFile != "" && !o.encrypted() {
		reject("client-ca-file", "client certificates require TLS: also set --tls-cert-file and --tls-private-key-file, or --tls-self-signed")
	}
	o.selfSigned.validate(reject)
	if o.selfSigned.enabled && (o.tlsCertFile != "" || o.tlsKeyFile != "") {
		reject("tls-self-signed", "cannot be combined with --tls-cert-file and --tls-private-key-file")
	}
	if o.insecurePlaintext && o.selfSigned.enabled {
		reject("insecure-plaintext", "cannot be combined with --tls-self-signed")
	} else if o.insecurePlaintext && o.encrypted() {
		reject("insecure-plaintext", "cannot be combined with --tls-cert-file")
	}
	if len(o.tokenAudiences) == 0 || slices.Contains(o.tokenAudiences, "") {
		reject("token-audiences", "must name at least one audience, and none may be empty")
	}
	if o.grpcAddress == "" {
		reject("grpc-bind-address", "must be set: without XDG_RUNTIME_DIR or HOME, there is no directory for a Unix socket")
	} else if socket := o.validateAddress(reject, "grpc-bind-address", o.grpcAddress); socket && o.encrypted() {
		reject("grpc-bind-address", "a Unix socket cannot be combined with TLS: it is for callers on this machine, who need no credentials")
	}
	if o.pprofAddress != "" {
		o.validateAddress(reject, "pprof-bind-address", o.pprofAddress)
	}
	if err := checkHostPort(o.httpAddress); err != nil {
		reject("http-bind-address", "%v", err)
	}
}

// validateAddress rejects addresses that nobody can listen at, and those that other machines
// could reach without encryption. It reports whether the address is a Unix socket.
func (o *options) validateAddress(reject func(flag, format string, args ...any), flag, address string) (socket bool) {
	_, socket, err := client.SocketPath(address)
	switch {
	case err != nil:
		reject(flag, "%v", err)
	case socket:
	case checkHostPort(address) != nil:
		reject(flag, "%v, nor unix:///PATH", checkHostPort(address))
	case !o.encrypted() && !o.insecurePlaintext && !onLoopback(address):
		reject(flag, "%q is reachable from other machines without encryption: set --tls-cert-file and --tls-private-key-file, "+
			"or --tls-self-signed, or listen on 127.0.0.1 and use kubectl port-forward", address)
	}
	return socket
}

// checkHostPort returns an error if an address is not host:port with the number of a port.
func checkHostPort(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%q is not host:port with a port from 0 to 65535", address)
	}
	return nil
}

func (o *options) encrypted() bool {
	return o.selfSigned.enabled || o.tlsCertFile != "" && o.tlsKeyFile != ""
}

// completeAddress sets the default address of the API. In plaintext, it is a Unix socket, so
// that other users of this machine cannot call it.
func (o *options) completeAddress() {
	switch {
	case o.grpcAddress != "":
	case o.encrypted() || o.insecurePlaintext:
		o.grpcAddress = "127.0.0.1:7443"
	default:
		// Without a directory for the socket, the address stays empty, which is invalid.
		o.grpcAddress, _ = client.LocalAddress()
	}
}

// local reports whether only programs on this machine can call the address, without
// TLS and without credentials.
func (o *options) local(address string) bool {
	return !o.encrypted() && (isSocket(address) || onLoopback(address))
}

// localProfiles reports whether profiles need no credentials. They show the memory of the server,
// so unlike the API, they are never open to all users of this machine.
func (o *options) localProfiles() bool { return isSocket(o.pprofAddress) }

// isSocket reports whether the address is a Unix socket, which only this user can reach.
func isSocket(address string) bool {
	_, socket, _ := client.SocketPath(address)
	return socket
}

// onLoopback reports whether only this machine can reach the address.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// newAccess returns the access rules for a listener: the cluster authenticates and authorizes
// callers, except those without credentials on this machine if local is set.
func newAccess(o *options, c *clients, issuer *access.Issuer, local bool) *access.Access {
	return access.New(access.Config{
		Tokens:     c.tokens.AuthenticationV1().TokenReviews(),
		Renewals:   c.renewals.AuthenticationV1().TokenReviews(),
		Rights:     c.rights.AuthorizationV1().SubjectAccessReviews(),
		Visibility: c.visibility.AuthorizationV1().SubjectAccessReviews(),
		Issuer:     issuer,
		Audiences:  o.tokenAudiences,
		Local:      local,
	})
}
