package access

import (
	"context"
	"crypto/sha256"
	"fmt"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
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

// Glance judges a call by its headers, before its request has arrived and without asking the
// API server: it must not block. It returns the caller, if that is known: by a
// certificate, by a token that was recently good or that the cluster has signed, or because it
// is a program on this machine. It returns an error if no caller could be let in like this. The
// caller is identified later with the context that it returns, which has what was computed.
func (a *Access) Glance(ctx context.Context, method string) (_ context.Context, who Who, err error) {
	if methods[method].Exempt {
		return ctx, Who{}, checkMetadata(ctx)
	}
	from, ok := peer.FromContext(ctx)
	if !ok {
		return ctx, Who{}, missing()
	}
	info, encrypted := from.AuthInfo.(credentials.TLSInfo)
	if encrypted && len(info.State.VerifiedChains) > 0 {
		id, err := a.fromCertificate(info.State.VerifiedChains[0][0])
		if err != nil {
			return ctx, Who{}, err
		}
		return ctx, id.Who(), nil
	}
	token, err := tokenOf(ctx)
	switch {
	case err != nil:
		return ctx, Who{}, err
	case token != "":
		h := &hashed{ctx, hashOf(token)}
		who, err = a.glanceToken(token, h.hash)
		return h, who, err
	case a.isLocal(from):
		return ctx, local.Who(), nil
	}
	return ctx, Who{}, missing()
}

func (a *Access) glanceToken(token string, hash [sha256.Size]byte) (Who, error) {
	if v, ok := a.identities.Get(hash); ok {
		if err := v.(verdict).err; err != nil {
			return Who{}, err
		}
		return v.(verdict).id.Who(), nil
	}
	if who, ok := a.proven.Get(hash); ok {
		return who.(Who), nil
	}
	signed, err := a.config.Issuer.check(token, a.config.Audiences, a.config.Clock.Now())
	switch {
	case err != nil:
		return Who{}, a.badToken(err.Error())
	case signed == nil:
		return Who{}, nil
	}
	return signed.Who(), nil
}
