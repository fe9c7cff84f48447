package access

import (
	"context"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// find returns the rights that a method needs. It returns an error if the method is not in
// the table.
func find(method string) (Method, error) {
	m, ok := methods[method]
	if !ok {
		return m, rpcerror.New(rpcerror.MethodNotAuthorized, "method "+method+" is not in the authorization table; this is a bug in workload-resizer")
	}
	return m, nil
}

// dependent reports whether the rights that a method needs depend on its request.
func (m *Method) dependent() bool { return m.Namespaced || m.only != nil }

// authorize returns an error if the caller of ctx may not make the request.
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

// Require returns an error if the caller of ctx does not have a right in a namespace, or in
// all namespaces if it is empty. It is for rights that only a service knows to be needed.
func (a *Access) Require(ctx context.Context, right Right, namespace string) error {
	return a.require(ctx, identityOf(ctx), right, namespace)
}
