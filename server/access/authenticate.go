package access

import (
	"context"
	"net"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

var local = newIdentity(Caller{Local: true})

// authenticate identifies the caller: by the client certificate, by the token if there is no
// certificate, or by the origin of the call if there are no credentials.
func (a *Access) authenticate(ctx context.Context) (*identity, error) {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return nil, missing()
	}
	info, encrypted := from.AuthInfo.(credentials.TLSInfo)
	if encrypted && len(info.State.VerifiedChains) > 0 {
		return a.fromCertificate(info.State.VerifiedChains[0][0])
	}
	switch token, err := tokenOf(ctx); {
	case err != nil:
		return nil, err
	case token != "":
		return a.fromToken(ctx, token)
	case a.isLocal(from):
		return local, nil
	}
	return nil, missing()
}

// isLocal reports whether a call without credentials comes from a program on this machine
// that may do everything.
func (a *Access) isLocal(from *peer.Peer) bool {
	_, encrypted := from.AuthInfo.(credentials.TLSInfo)
	return a.config.Local && !encrypted && onThisMachine(from.Addr)
}

// onThisMachine reports whether an address is on this machine, in case other machines can
// reach the listener after all. Addresses other than TCP belong to connections inside this
// process, or to Unix sockets.
func onThisMachine(address net.Addr) bool {
	tcp, ok := unwrapped(address).(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

// unwrapped returns the address of a connection that a listener counts.
func unwrapped(address net.Addr) net.Addr {
	if counted, ok := address.(interface{ Unwrap() net.Addr }); ok {
		return counted.Unwrap()
	}
	return address
}

// tokenOf returns the token of a call, or an empty string if it has none.
func tokenOf(ctx context.Context) (string, error) {
	given := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(given) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	token = strings.TrimSpace(token)
	if len(given) > 1 || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return "", invalid(`the metadata "authorization" must be set once, to "Bearer TOKEN"`)
	}
	return token, nil
}

func missing() error {
	return rpcerror.New(rpcerror.CredentialsMissing,
		`the server requires credentials: send a token in the metadata "authorization: Bearer TOKEN", or a client certificate`)
}

func invalid(problem string) error {
	return rpcerror.New(rpcerror.CredentialsInvalid, problem)
}
