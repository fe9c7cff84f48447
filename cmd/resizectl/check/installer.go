package check

import (
	"cmp"
	"context"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// besides are the kinds of deploy/base that only a server inside the cluster needs.
var besides = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Version: "v1", Kind: "Service"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"},
}

// installer checks whether the caller may create what the manifests contain.
func (s *subject) installer(ctx context.Context) []Result {
	const check = "create"
	objects, err := installed()
	if err != nil {
		return []Result{unknown(check, "your rights", err)}
	}
	kinds := slices.Clone(besides)
	for _, o := range objects {
		kinds = append(kinds, o.GroupVersionKind())
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
	var missing []string
	for _, kind := range slices.Compact(kinds) {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "create", Group: resource.Group, Resource: resource.Resource, Namespace: s.namespace,
		}}}
		review, err := s.kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return []Result{unknown(check, "your rights", err)}
		}
		if !review.Status.Allowed {
			missing = append(missing, resource.GroupResource().String())
		}
	}
	if len(missing) > 0 {
		return []Result{failure(check, "let an administrator of the cluster install workload-resizer", "you may not create %s", some(missing))}
	}
	return []Result{ok(check, "you may create what the manifests contain")}
}
