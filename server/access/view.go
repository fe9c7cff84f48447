package access

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/status"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Viewer determines what callers can see.
type Viewer interface {
	// View returns what the caller of ctx can see.
	View(ctx context.Context) View
}

// View is what one caller can see: pods that it may get. It is for one call and one goroutine,
// and does not ask the same question twice. If an answer cannot be determined now, the error is
// a gRPC status error.
type View interface {
	// Sees reports whether the caller may get pods in a namespace that it has named.
	Sees(namespace string) (bool, error)
	// SeesAll reports whether the caller has the right to get pods in all namespaces.
	SeesAll() (bool, error)
	// Visible returns those of the namespaces whose pods the caller may get. Its answer can be
	// a minute old where it leaves a namespace out.
	Visible(namespaces ...string) ([]string, error)
}

// seesAll is the view of callers that can see everything.
type seesAll struct{}

func (seesAll) Sees(string) (bool, error) { return true, nil }

func (seesAll) SeesAll() (bool, error) { return true, nil }

func (seesAll) Visible(namespaces ...string) ([]string, error) { return namespaces, nil }

// View implements Viewer with RBAC rights to get pods.
func (a *Access) View(ctx context.Context) View {
	id := identityOf(ctx)
	if id.Local {
		return seesAll{}
	}
	v := &view{ctx: ctx, visibility: a.visibility, id: id, began: a.config.Clock.Now(), known: map[string]bool{}}
	if deadline, ok := ctx.Deadline(); ok {
		v.listUntil = deadline.Add(-time.Until(deadline) / 10)
	}
	return v
}

type view struct {
	ctx        context.Context // The context of the one call.
	visibility *visibility
	id         *identity
	began      time.Time
	// listUntil is when to give up lists, so that the error arrives before the deadline of the
	// call; zero if the call has none.
	listUntil time.Time
	// known has answers by namespace; the key "" stands for all namespaces.
	known map[string]bool
}

// Sees implements View. Most callers can see either everything or little, so it first asks
// about all namespaces.
func (v *view) Sees(namespace string) (bool, error) {
	all, err := v.SeesAll()
	if err != nil || all {
		return all, err
	}
	return v.ask(namespace)
}

// SeesAll implements View.
func (v *view) SeesAll() (bool, error) { return v.ask("") }

func (v *view) ask(namespace string) (bool, error) {
	if sees, ok := v.known[namespace]; ok {
		return sees, nil
	}
	sees, err := v.visibility.sees(v.ctx, v.id, namespace, one)
	if err != nil {
		return false, v.failed(err)
	}
	v.known[namespace] = sees
	return sees, nil
}

// Visible implements View.
func (v *view) Visible(namespaces ...string) ([]string, error) {
	all, err := v.SeesAll()
	if err != nil || all {
		return namespaces, err
	}
	unknown := slices.DeleteFunc(slices.Clone(namespaces), func(namespace string) bool {
		_, ok := v.known[namespace]
		return ok
	})
	ctx, cancel := v.ctx, context.CancelFunc(func() {})
	if !v.listUntil.IsZero() {
		ctx, cancel = context.WithDeadline(ctx, v.listUntil)
	}
	defer cancel()
	sees, err := v.visibility.seesEach(ctx, v.id, unknown)
	if err != nil {
		v.visibility.continueSoon(v.id, v.began)
		if ctx.Err() != nil && v.ctx.Err() == nil {
			return nil, rpcerror.New(rpcerror.TooManyNamespaces, "you cannot get pods in all namespaces, and there are too many to check each of them in the time of this call: "+
				"call again to continue, name a namespace, or ask for a ClusterRoleBinding to the ClusterRole view")
		}
		return nil, v.failed(err)
	}
	for i, namespace := range unknown {
		v.known[namespace] = sees[i]
	}
	return slices.DeleteFunc(slices.Clone(namespaces), func(namespace string) bool { return !v.known[namespace] }), nil
}

// failed returns the error for a failed review: if the call is over, it is the reason.
func (v *view) failed(err error) error {
	if v.ctx.Err() != nil {
		return status.FromContextError(v.ctx.Err()).Err()
	}
	return err
}

// MustSee returns an error if the caller cannot see the namespace that it names. An empty
// namespace names none.
func MustSee(view View, namespace string) error {
	if namespace == "" {
		return nil
	}
	sees, err := view.Sees(namespace)
	if err == nil && !sees {
		err = rpcerror.New(rpcerror.NamespaceNotVisible, fmt.Sprintf("you cannot get pods in namespace %q", namespace))
	}
	return err
}
