package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/workload-resizer/workload-resizer/deploy"
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
