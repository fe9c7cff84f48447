package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Group is the API group of the virtual resources.
const Group = "workload-resizer.io"

// Right is a verb on a virtual resource of Group, e.g. list on "plans". A subresource follows
// a slash, e.g. "overrides/history". A Resource that starts with a slash is a URL path, which
// belongs to no group.
type Right struct{ Verb, Resource string }

// String returns e.g. "list plans".
func (r Right) String() string { return r.Verb + " " + r.Resource }

// full returns the right with the group of its resource, e.g. "list plans.workload-resizer.io".
func (r Right) full() string {
	if r.path() {
		return r.String()
	}
	return r.String() + "." + Group
}

// path reports whether the right is for a URL path.
func (r Right) path() bool { return strings.HasPrefix(r.Resource, "/") }

// Role returns the least privileged ClusterRole of deploy/base that has the right.
func (r Right) Role() string {
	switch {
	case r.path():
		return "workload-resizer-metrics"
	case r.Resource == "restores" || r.Resource == "debug" || r.Resource == "freezes" && r.Verb != "get":
		return "workload-resizer-admin"
	case r.Resource == "samples":
		return "workload-resizer-agent"
	case r.Resource == "usages":
		return "workload-resizer-usage-agent"
	case r.Resource == "plans" || r.Verb == "get" || r.Verb == "list" || r.Verb == "watch":
		// Plans only use what viewers can read, whatever the verb.
		return "workload-resizer-viewer"
	}
	return "workload-resizer-editor"
}

// Rights checks what callers may do. An Access implements it.
type Rights interface {
	// Require returns an error if the caller of ctx does not have the right in the namespace, or if this is not known.
	Require(ctx context.Context, right Right, namespace string) error
}

// attributes identify a right of a caller. An empty namespace stands for all namespaces.
type attributes struct {
	who                              [sha256.Size]byte
	group, verb, resource, namespace string
}

// require returns an error if the caller does not have the right in the namespace.
func (a *Access) require(ctx context.Context, id *identity, right Right, namespace string) error {
	allowed, err := a.allowed(ctx, id, attributes{id.hash, Group, right.Verb, right.Resource, namespace})
	if err != nil || allowed {
		return err
	}
	where, binding := " in all namespaces", "ClusterRoleBinding"
	switch {
	case right.path():
		where = ""
	case namespace != "":
		where, binding = fmt.Sprintf(" in namespace %q", namespace), "RoleBinding in that namespace"
	}
	return rpcerror.New(rpcerror.NotAuthorized, fmt.Sprintf("user %q cannot %s%s; a %s to the ClusterRole %s allows it",
		id.Name, right.full(), where, binding, right.Role()))
}

// allowed asks the API server, unless it recently answered the same question.
func (a *Access) allowed(ctx context.Context, id *identity, what attributes) (bool, error) {
	if id.Local {
		return true, nil
	}
	if id.Name == "" {
		return false, nil
	}
	if _, ok := a.rights.Get(what); ok {
		return true, nil
	}
	if _, ok := a.denials.Get(what); ok {
		return false, nil
	}
	if a.config.Rights == nil {
		return false, noCluster()
	}
	answer, err := a.review(ctx, fmt.Sprintf("right %q", what), func(ctx context.Context) (any, error) {
		leave, err := a.reviewing.Enter(ctx, fair.Turn{Key: id.who})
		if err != nil {
			return nil, notReady(ctx, "rights", err)
		}
		defer leave()
		allowed, err := ask(ctx, a.config.Rights, &id.Caller, what)
		if err != nil {
			return nil, err
		}
		if allowed {
			a.rights.Add(what, nil, remembered)
		} else {
			a.denials.Add(what, nil, deniedFor)
		}
		return allowed, nil
	})
	if err != nil {
		return false, err
	}
	return answer.(bool), nil
}

// ask asks the API server whether a caller has a right.
func ask(ctx context.Context, reviews authorizationclient.SubjectAccessReviewInterface, c *Caller, what attributes) (bool, error) {
	review, err := reviews.Create(ctx, question(c, what), metav1.CreateOptions{})
	if err != nil {
		return false, notReady(ctx, "rights", err)
	}
	return review.Status.Allowed && !review.Status.Denied, nil
}

func question(c *Caller, what attributes) *authorizationv1.SubjectAccessReview {
	spec := authorizationv1.SubjectAccessReviewSpec{User: c.Name, UID: c.UID, Groups: c.Groups}
	if (Right{what.verb, what.resource}).path() {
		spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: what.resource, Verb: what.verb}
	} else {
		resource, subresource, _ := strings.Cut(what.resource, "/")
		spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: what.namespace, Verb: what.verb, Group: what.group, Resource: resource, Subresource: subresource,
		}
	}
	if len(c.Extra) > 0 {
		spec.Extra = map[string]authorizationv1.ExtraValue{}
		for key, values := range c.Extra {
			spec.Extra[key] = values
		}
	}
	return &authorizationv1.SubjectAccessReview{Spec: spec}
}
