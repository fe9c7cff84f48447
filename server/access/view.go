package access

import (
	"context"
	"time"
)

const (
	// unseenFor is how long the result that a caller cannot see a namespace is cached. It
	// affects only reads, and most callers can see few of many namespaces.
	unseenFor = 5 * time.Second
	// unseenSize is how many of these results are cached: enough for some callers in a
	// cluster with thousands of namespaces.
	unseenSize = 16384
)

// Viewer determines what callers can see.
type Viewer interface {
	// View returns what the caller of ctx can see.
	View(ctx context.Context) View
}

// View is what one caller can see. It is for one call and one goroutine, and does not ask the
// same question twice.
type View interface {
	// Sees reports whether the caller may get pods in the namespace. If that cannot be
	// determined now, the error is a gRPC status error.
	Sees(namespace string) (bool, error)
}

// seesAll is the view of callers that can see everything.
type seesAll struct{}

func (seesAll) Sees(string) (bool, error) { return true, nil }

// View implements Viewer with RBAC rights to get pods.
func (a *Access) View(ctx context.Context) View {
	id := identityOf(ctx)
	if id.Local {
		return seesAll{}
	}
	return &view{ctx: ctx, access: a, id: id, known: map[string]bool{}}
}

type view struct {
	ctx    context.Context // The context of the one call.
	access *Access
	id     *identity
	// known has answers by namespace; the key "" stands for all namespaces.
	known map[string]bool
}

// Sees implements View. Most callers can see either everything or little, so it first asks
// about all namespaces.
func (v *view) Sees(namespace string) (bool, error) {
	all, err := v.ask("")
	if err != nil || all {
		return all, err
	}
	return v.ask(namespace)
}

func (v *view) ask(namespace string) (bool, error) {
	if sees, ok := v.known[namespace]; ok {
		return sees, nil
	}
	what := attributes{v.id.hash, "", "get", "pods", namespace}
	_, unseen := v.access.unseen.Get(what)
	sees := false
	if !unseen {
		var err error
		if sees, err = v.access.allowed(v.ctx, v.id, what); err != nil {
			return false, err
		}
		if !sees {
			v.access.unseen.Add(what, nil, unseenFor)
		}
	}
	v.known[namespace] = sees
	return sees, nil
}
