package access

import (
	"context"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// find returns what a method needs. The error is that nobody may call it.
func find(method string) (Method, error) {
	m, ok := methods[method]
	if !ok {
		return m, rpcerror.New(rpcerror.MethodNotAuthorized, "method "+method+" is not in the authorization table; this is a bug of workload-resizer")
	}
	return m, nil
}

// dependent tells that what a method needs cannot be known before its request.
func (m *Method) dependent() bool { return m.Namespaced || m.only != nil }

// authorize returns the error that the caller of ctx may not make the request.
func (a *Access) authorize(ctx context.Context, m *Method, request any) error {
	if m.Exempt {
		return nil
	}
	id := identityOf(ctx)
	if id.Local {
		return nil
	}
	namespace, rights := "", m.Rights
	if m.Namespaced {
		namespace = namespaceOf(request)
	}
	if m.only != nil {
		rights = m.only(request)
	}
	for _, right := range rights {
		if err := a.require(ctx, id, right, namespace); err != nil {
			return err
		}
	}
	return nil
}

// Require returns the error that the caller of ctx has not a right in a namespace,
// in all of them if it is empty: for what only a service knows to need it.
func (a *Access) Require(ctx context.Context, right Right, namespace string) error {
	return a.require(ctx, identityOf(ctx), right, namespace)
}
