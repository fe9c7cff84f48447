package access

import (
	"context"
	"crypto/sha256"
	"fmt"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/workload-resizer/workload-resizer/internal/fair"
)

// mostExemptMetadata is how much metadata a call that needs no credentials may have, in bytes:
// a watch keeps it.
const mostExemptMetadata = 8 << 10

// checkMetadata returns an error if a call that needs no credentials has too much metadata.
func checkMetadata(ctx context.Context) error {
	given, _ := metadata.FromIncomingContext(ctx)
	size := 0
	for key, values := range given {
		for _, value := range values {
			size += len(key) + len(value)
		}
	}
	if size > mostExemptMetadata {
		return invalid(fmt.Sprintf("the metadata of a call without credentials has %d bytes, more than %d: send less", size, mostExemptMetadata))
	}
	return nil
}

// hashed is the context of a call with the hash of its token, which is not computed again.
type hashed struct {
	context.Context
	hash [sha256.Size]byte
}

type hashedKey struct{}

// Value implements context.Context.
func (h *hashed) Value(key any) any {
	if key == (hashedKey{}) {
		return h
	}
	return h.Context.Value(key)
}

// PreAuthenticate judges a call by its headers, before its request has arrived and without asking the
// API server: it must not block. It returns the caller, if that is known: by a
// certificate, by a token that was recently good or that the cluster has signed, or because it
// is a program on this machine. It returns an error if no caller could be let in like this. The
// caller is identified later with the context that it returns, which has what was computed.
func (a *Access) PreAuthenticate(ctx context.Context, method string) (_ context.Context, who fair.Key, err error) {
	if methods[method].Exempt {
		return ctx, fair.Key{}, checkMetadata(ctx)
	}
	from, ok := peer.FromContext(ctx)
	if !ok {
		return ctx, fair.Key{}, missing()
	}
	info, encrypted := from.AuthInfo.(credentials.TLSInfo)
	if encrypted && len(info.State.VerifiedChains) > 0 {
		id, err := a.fromCertificate(info.State.VerifiedChains[0][0])
		if err != nil {
			return ctx, fair.Key{}, err
		}
		return ctx, id.who, nil
	}
	token, err := tokenOf(ctx)
	switch {
	case err != nil:
		return ctx, fair.Key{}, err
	case token != "":
		h := &hashed{ctx, hashOf(token)}
		who, err = a.preAuthenticateToken(token, h.hash)
		return h, who, err
	case a.isLocal(from):
		return ctx, local.who, nil
	}
	return ctx, fair.Key{}, missing()
}

func (a *Access) preAuthenticateToken(token string, hash [sha256.Size]byte) (fair.Key, error) {
	if v, ok := a.identities.Get(hash); ok {
		if err := v.(verdict).err; err != nil {
			return fair.Key{}, err
		}
		return v.(verdict).id.who, nil
	}
	if who, ok := a.proven.Get(hash); ok {
		return who.(fair.Key), nil
	}
	signed, err := a.config.Issuer.check(token, a.config.Audiences, a.config.Clock.Now())
	switch {
	case err != nil:
		return fair.Key{}, a.badToken(err.Error())
	case signed == nil:
		return fair.Key{}, nil
	}
	return signed.Who(), nil
}
