package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Caller is the caller of a method.
type Caller struct {
	// Name is the Kubernetes user name; empty for Local.
	Name string
	// UID, Groups and Extra are the other attributes of the Kubernetes user.
	UID    string
	Groups []string
	Extra  map[string][]string
	// Local means that the caller sent no credentials and may do everything, because only
	// programs on this machine can reach the server.
	Local bool
}

// String returns the name, or "(local)" for a local caller.
func (c Caller) String() string {
	if c.Local {
		return "(local)"
	}
	return c.Name
}

// Who identifies a caller for limits, from wide to narrow. The zero value is a stranger.
type Who struct {
	// Origin is where accounts come from that one person may have created: the namespace of
	// ServiceAccounts, as "system:serviceaccount:NAMESPACE". Of other callers, it is Account.
	Origin string
	// Account is Key.
	Account string
	// Credential is the ID of the credential, if there is one.
	Credential string
}

// Who returns the caller for limits.
func (c *Caller) Who() Who {
	key := c.Key()
	who := Who{Origin: key, Account: key, Credential: c.Credential()}
	if namespace, _, ok := strings.Cut(strings.TrimPrefix(c.Name, accountPrefix), ":"); ok && strings.HasPrefix(c.Name, accountPrefix) {
		who.Origin = accountPrefix + namespace
	}
	return who
}

// accountPrefix is what the names of ServiceAccounts begin with.
const accountPrefix = "system:serviceaccount:"

// Key identifies callers that share limits: the name, and the node for a caller that is bound
// to one, because all node agents have the same account.
func (c Caller) Key() string {
	if node, _ := c.Node(); node != "" {
		return c.Name + " on " + node
	}
	return c.String()
}

// identity is a caller with the key under which its rights are cached.
type identity struct {
	Caller
	hash [sha256.Size]byte
}

// newIdentity returns the identity of a caller, which must not change afterward. Creating it
// is not free, so identities are cached.
func newIdentity(c Caller) *identity {
	// Quoting ensures that different callers never have the same text.
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

// nobody is an identity without any rights.
var nobody = &identity{}

func identityOf(ctx context.Context) *identity {
	if id, ok := ctx.Value(callerKey{}).(*identity); ok {
		return id
	}
	return nobody
}

// FromContext returns the caller; if it was never identified, a caller without any rights.
func FromContext(ctx context.Context) Caller { return identityOf(ctx).Caller }

// Author returns the author of a change: the name of the caller or, for a local caller, the
// author that it named. It is an error if another caller names one.
func Author(ctx context.Context, said string) (string, error) {
	id := identityOf(ctx)
	switch {
	case id.Local:
		return said, nil
	case said != "":
		return "", rpcerror.BadField("author", "must be empty: the server knows its callers, and you are "+id.Name)
	}
	return id.Name, nil
}
