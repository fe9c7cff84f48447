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

// authenticate finds out who makes a call: by the client certificate, else by
// the token, else, if there is none, by where the call comes from.
func (a *Access) authenticate(ctx context.Context) (*identity, error) {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return nil, missing()
	}
	info, encrypted := from.AuthInfo.(credentials.TLSInfo)
	if encrypted && len(info.State.VerifiedChains) > 0 {
		return a.fromCertificate(info.State.VerifiedChains[0][0])
	}
	if given := metadata.ValueFromIncomingContext(ctx, "authorization"); len(given) > 0 {
		return a.fromAuthorization(ctx, given)
	}
	if a.config.Local && !encrypted && onThisMachine(from.Addr) {
		return local, nil
	}
	return nil, missing()
}

// onThisMachine distrusts a listener that other machines reach after all.
// Addresses other than those of TCP are of connections inside this process, or of
// Unix sockets.
func onThisMachine(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

func (a *Access) fromAuthorization(ctx context.Context, given []string) (*identity, error) {
	scheme, token, _ := strings.Cut(given[0], " ")
	token = strings.TrimSpace(token)
	if len(given) > 1 || token == "" || !strings.EqualFold(scheme, "Bearer") {
		return nil, invalid(`the metadata "authorization" must be given once, as "Bearer TOKEN"`)
	}
	return a.fromToken(ctx, token)
}

func missing() error {
	return rpcerror.New(rpcerror.CredentialsMissing,
		`this server has to know who calls: give a token as the metadata "authorization: Bearer TOKEN", or a client certificate`)
}

func invalid(problem string) error {
	return rpcerror.New(rpcerror.CredentialsInvalid, problem)
}
