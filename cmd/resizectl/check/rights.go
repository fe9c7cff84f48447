package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// reviewsAtOnce limits how many rights are checked at the same time.
const reviewsAtOnce = 16

// serverRights checks whether the server has the rights that its manifests give to it.
func (s *subject) serverRights(ctx context.Context) []Result {
	const check = "server-rights"
	account, err := s.account(ctx)
	if err != nil {
		return []Result{unknown(check, "the rights of the server", err)}
	}
	needed, err := s.neededRights(s.configName(ctx))
	if err != nil {
		return []Result{unknown(check, "the rights of the server", err)}
	}
	allowed := make([]bool, len(needed))
	reviews, ctx := errgroup.WithContext(ctx)
	reviews.SetLimit(reviewsAtOnce)
	for i, right := range needed {
		reviews.Go(func() error {
			review, err := s.kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User:               "system:serviceaccount:" + s.namespace + ":" + account,
				Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + s.namespace, "system:authenticated"},
				ResourceAttributes: right,
			}}, metav1.CreateOptions{})
			if err == nil {
				allowed[i] = review.Status.Allowed
			}
			return err
		})
	}
	if err := reviews.Wait(); err != nil {
		return []Result{unknown(check, "the rights of the server", err)}
	}
	var missing []string
	for i, right := range needed {
		if !allowed[i] {
			missing = append(missing, rightText(right))
		}
	}
	if len(missing) > 0 {
		return []Result{failure(check, "apply the manifests of this version again: they give the server its rights (docs/tasks/install.md)",
			"ServiceAccount %s/%s may not %s", s.namespace, account, some(slices.Compact(missing)))}
	}
	return []Result{ok(check, "ServiceAccount %s/%s has all rights that it needs", s.namespace, account)}
}

// account returns the ServiceAccount of the server's pods, or that of deploy/base if there are none.
func (s *subject) account(ctx context.Context) (string, error) {
	pods, err := s.pods(ctx)
	if err != nil {
		return "", err
	}
	for i := range pods {
		return pods[i].Spec.ServiceAccountName, nil
	}
	return deploy.ServiceAccount, nil
}

// neededRights returns the rights in the roles of deploy/base that are bound to the server, whose ConfigMap
// with the ratios has this name.
func (s *subject) neededRights(configName string) ([]*authorizationv1.ResourceAttributes, error) {
	objects, err := installed()
	if err != nil {
		return nil, err
	}
	var needed []*authorizationv1.ResourceAttributes
	for _, o := range objects {
		// Roles for users have other names.
		if o.GetName() != deploy.ServiceAccount || o.GetKind() != "ClusterRole" && o.GetKind() != "Role" {
			continue
		}
		var role rbacv1.Role // A ClusterRole has the same rules.
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			return nil, fmt.Errorf("read the manifests of this program: %w", err)
		}
		namespace := ""
		if o.GetKind() == "Role" {
			namespace = s.namespace
		}
		for _, rule := range role.Rules {
			if i := slices.Index(rule.ResourceNames, deploy.ConfigMap); i >= 0 {
				rule.ResourceNames[i] = configName
			}
			needed = append(needed, rightsOf(rule, namespace)...)
		}
	}
	return needed, nil
}

// rightsOf returns the single rights of a rule.
func rightsOf(rule rbacv1.PolicyRule, namespace string) (rights []*authorizationv1.ResourceAttributes) {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range names {
					rights = append(rights, attributes(verb, group, resource, namespace, name))
				}
			}
		}
	}
	return rights
}

func attributes(verb, group, resource, namespace, name string) *authorizationv1.ResourceAttributes {
	resource, sub, _ := strings.Cut(resource, "/")
	return &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource, Subresource: sub, Namespace: namespace, Name: name}
}

// rightText returns e.g. "patch pods/resize" or "list pods.metrics.k8s.io", as for "kubectl auth can-i".
func rightText(right *authorizationv1.ResourceAttributes) string {
	text := right.Verb + " " + right.Resource
	if right.Group != "" {
		text += "." + right.Group
	}
	if right.Subresource != "" {
		text += "/" + right.Subresource
	}
	if right.Name != "" {
		text += " " + right.Name
	}
	return text
}

const access = "docs/tasks/give-a-team-access.md"

// noPods is a selector that no pod has: the server then plans nothing, but still reports
// whether the caller can see all pods.
const noPods = "workload-resizer.io/none,!workload-resizer.io/none"

// caller checks what the caller may do at the server.
func (s *subject) caller(ctx context.Context) (found []Result) {
	if err := s.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		found = []Result{s.sees(ctx, c), s.changes(ctx, c)}
		return nil
	}); err != nil {
		return []Result{unknown("caller-pods", "your rights", err)}
	}
	return found
}

// sees checks whether the caller can see all pods.
func (s *subject) sees(ctx context.Context, c *client.Client) Result {
	const check = "caller-pods"
	stream := c.PreviewPlans(ctx, "", client.WithLabels(noPods))
	for _, err := range stream.All() {
		switch {
		case status.Code(err) == codes.PermissionDenied:
			return warning(check, access, "you cannot see what happens to pods: %s", connect.MessageOf(err))
		case err != nil:
			return unknown(check, "the pods that you can see", err)
		}
	}
	if stream.Summary().GetIncomplete() {
		return warning(check, access, "you can see only the pods in some namespaces: you do not have the right to get pods in all namespaces")
	}
	return ok(check, "you can see the pods in all namespaces")
}

// changes says what the caller may change. To be allowed to change nothing is no fault. The server
// checks the rights for a request that it only validates like those for the change itself.
func (s *subject) changes(ctx context.Context, c *client.Client) Result {
	const check = "caller-changes"
	everywhere := &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_AllNamespaces{AllNamespaces: &workloadresizerv1.AllNamespaces{}}}
	var may, mayNot []string
	for _, change := range []struct {
		what string
		try  func() error
	}{
		{"set ratios", func() error {
			// No ratio has this etag, so the server does not plan what the change would mean.
			_, err := c.Overrides().UpdateOverride(ctx, &workloadresizerv1.UpdateOverrideRequest{
				Override:  &workloadresizerv1.Override{NodeType: s.table.GetBaselineNodeType(), CpuPerf: new(1.0)},
				RatioEtag: "none of them", ValidateOnly: true,
			})
			return err
		}},
		{"pause pods", func() error {
			_, err := c.Pause(ctx, &workloadresizerv1.PauseRequest{Scope: everywhere, ValidateOnly: true})
			return err
		}},
		{"restore pods", func() error {
			_, err := c.Restore(ctx, &workloadresizerv1.RestoreRequest{Scope: everywhere, ValidateOnly: true})
			return err
		}},
		{"freeze the cluster", func() error {
			_, err := c.Freeze(ctx, &workloadresizerv1.FreezeRequest{ValidateOnly: true})
			return err
		}},
	} {
		err := change.try()
		switch status.Code(err) {
		case codes.PermissionDenied:
			mayNot = append(mayNot, change.what)
		case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
			return unknown(check, "what you may change", err)
		default:
			may = append(may, change.what) // A request that is refused for another reason is allowed.
		}
	}
	switch {
	case len(mayNot) == 0:
		return ok(check, "you may %s", listed(may, "and"))
	case len(may) == 0:
		return ok(check, "you may not %s in all namespaces", listed(mayNot, "or"))
	}
	return ok(check, "you may %s in all namespaces, but not %s", listed(may, "and"), listed(mayNot, "or"))
}

// listed returns e.g. "a, b and c".
func listed(words []string, last string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
