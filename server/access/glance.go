package access

import (
	"context"
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

// Glance judges a call by its headers, before its request has arrived and without asking the
// API server: it must not block. It returns the caller, if that is known: by a
// certificate, by a token that was recently good or that the cluster has signed, or because it
// is a program on this machine. It returns an error if no caller could be let in like this.
func (a *Access) Glance(ctx context.Context, method string) (who Who, err error) {
	if methods[method].Exempt {
		return Who{}, checkMetadata(ctx)
	}
	from, ok := peer.FromContext(ctx)
	if !ok {
		return Who{}, missing()
	}
	info, encrypted := from.AuthInfo.(credentials.TLSInfo)
	if encrypted && len(info.State.VerifiedChains) > 0 {
		leaf := info.State.VerifiedChains[0][0]
		if id, ok := a.identities.Get(leaf); ok {
			return id.(*identity).Who(), nil
		}
		caller := ownerOf(leaf)
		return caller.Who(), nil
	}
	token, err := tokenOf(ctx)
	if err != nil {
		return Who{}, err
	}
	if token == "" {
		if a.isLocal(from) {
			return local.Who(), nil
		}
		return Who{}, missing()
	}
	hash := hashOf(token)
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
