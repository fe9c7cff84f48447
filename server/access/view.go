package access

import (
	"context"
	"time"
)

const (
	// unseenFor is how long what a caller may not see is not asked again. It
	// decides about reads alone, and most callers may see few of many namespaces.
	unseenFor = 5 * time.Second
	// unseenSize is how many of these are remembered: some callers in a cluster
	// with thousands of namespaces.
	unseenSize = 16384
)

// Viewer tells what callers may see.
type Viewer interface {
	// View returns what the caller of ctx may see.
	View(ctx context.Context) View
}

// View is what one caller may see. It is for one call and one goroutine: what was
// asked once is not asked again.
type View interface {
	// Sees tells whether the caller may get pods of the namespace. The error is
	// that it cannot be known now, a gRPC status error.
	Sees(namespace string) (bool, error)
}

// seesAll is the view of callers that may see everything.
type seesAll struct{}

func (seesAll) Sees(string) (bool, error) { return true, nil }

// View implements Viewer by what RBAC says about pods.
func (a *Access) View(ctx context.Context) View {
	id := identityOf(ctx)
	if id.Local {
		return seesAll{}
	}
	return &view{ctx: ctx, access: a, id: id, known: map[string]bool{}}
}

type view struct {
	ctx    context.Context // That of the one call.
	access *Access
	id     *identity
	// known has answers by namespace; by "" that for all of them.
	known map[string]bool
}

// Sees implements View. Most callers may see all or little, so all comes first.
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
