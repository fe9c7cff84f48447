package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/fair"
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

// Who returns the caller for limits. The zero value is a caller that is not known. The origin is the
// namespace of ServiceAccounts, as "system:serviceaccount:NAMESPACE"; of other callers, it is the
// account.
func (c *Caller) Who() fair.Key {
	account := c.Key()
	who := fair.Key{Origin: account, Account: account, Credential: c.Credential()}
	if name, ok := strings.CutPrefix(c.Name, accountPrefix); ok {
		if namespace, _, ok := strings.Cut(name, ":"); ok {
			who.Origin = c.Name[:len(accountPrefix)+len(namespace)]
		}
	}
	return who
}

// quota returns the caller for limits of which it has a quota. Those of callers that are bound to a
// node are for each node, so that their credentials do not divide them again. But such a credential
// is of one pod, which must not end what other pods of its account have on the node: for that, Who
// has it.
func (c *Caller) quota() fair.Key {
	who := c.Who()
	if _, bound := c.Node(); bound {
		who.Credential = ""
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

// identity is a caller with the key under which its rights are cached, and its keys for limits.
type identity struct {
	Caller
	hash [sha256.Size]byte
	// who and quota are what Who and quota return.
	who, quota fair.Key
}

// newIdentity returns the identity of a caller, which must not change afterward. Creating it
// is not free, so identities are cached.
func newIdentity(c Caller) *identity {
	// Quoting ensures that different callers never have the same text.
	return &identity{c, sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", c.Name, c.UID, c.Groups, c.Extra)), c.Who(), c.quota()}
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

// WhoFrom returns the caller for limits, as Who does.
func WhoFrom(ctx context.Context) fair.Key { return identityOf(ctx).who }

// QuotaFrom returns the caller for limits of which it has a quota: calls, watches and previews. It is
// as WhoFrom, but without the credential of a caller that is bound to a node.
func QuotaFrom(ctx context.Context) fair.Key { return identityOf(ctx).quota }

// IsLocal reports whether the caller may do everything without credentials.
func IsLocal(ctx context.Context) bool { return identityOf(ctx).Local }

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
