package access

import (
	"context"
	"crypto/sha256"
	"fmt"
)

// Caller is who makes a call.
type Caller struct {
	// Name is the user's name as Kubernetes has it; empty for Local.
	Name string
	// UID, Groups and Extra are what Kubernetes knows of the user besides.
	UID    string
	Groups []string
	Extra  map[string][]string
	// Local tells that the caller gave no credentials and may do everything,
	// because only programs of this machine can reach the server.
	Local bool
}

// String returns the name, "(local)" for a caller of this machine without one.
func (c Caller) String() string {
	if c.Local {
		return "(local)"
	}
	return c.Name
}

// identity is a caller with what their rights are remembered by.
type identity struct {
	Caller
	hash [sha256.Size]byte
}

// newIdentity is for a caller that does not change any more. It is not free, so
// identities are remembered.
func newIdentity(c Caller) *identity {
	// Quoted, two callers are never the same text.
	return &identity{c, sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", c.Name, c.UID, c.Groups, c.Extra))}
}

type callerKey struct{}

// NewContext returns a context of a call by the caller.
func NewContext(ctx context.Context, c Caller) context.Context {
	return withIdentity(ctx, newIdentity(c))
}

func withIdentity(ctx context.Context, id *identity) context.Context {
	return context.WithValue(ctx, callerKey{}, id)
}

// nobody may do nothing.
var nobody = &identity{}

func identityOf(ctx context.Context) *identity {
	if id, ok := ctx.Value(callerKey{}).(*identity); ok {
		return id
	}
	return nobody
}

// FromContext returns who makes the call; nobody, who may nothing, if that was
// never found out.
func FromContext(ctx context.Context) Caller { return identityOf(ctx).Caller }

// Author is who is to be remembered for a change: the caller, or what a caller
// that is not known says of itself.
func Author(ctx context.Context, said string) string {
	if id := identityOf(ctx); !id.Local {
		return id.Name
	}
	return said
}
