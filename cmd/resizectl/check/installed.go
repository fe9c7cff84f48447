package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/workload-resizer/workload-resizer/deploy"
)

const install = "install the server: docs/tasks/install.md"

// installation checks whether the server runs in the cluster.
func (s *subject) installation(ctx context.Context) []Result {
	const check = "pods"
	switch {
	case s.deployedErr != nil:
		return []Result{unknown("service", "the Service of the server", s.deployedErr)}
	case s.deployed == nil && s.status != nil:
		return []Result{ok("service", "there is no Service %s/%s: the server runs outside of the cluster", s.namespace, s.service)}
	case s.deployed == nil:
		return []Result{failure("service", install+"; --service names another Service, and --server the address of a server outside of the cluster", "there is no Service %s/%s", s.namespace, s.service)}
	}
	found := []Result{ok("service", "the Service is %s/%s", s.namespace, s.service)}
	pods, err := s.pods(ctx)
	if err != nil {
		return append(found, unknown(check, "the pods of the server", err))
	}
	var unready []string
	for i := range pods {
		if !isReady(&pods[i]) {
			unready = append(unready, pods[i].Name)
		}
	}
	look := "find out why: kubectl -n " + s.namespace + " describe pods"
	switch {
	case len(pods) == 0:
		return append(found, failure(check, look+"; docs/reference/alerts.md#workloadresizerabsent", "no pod of the server runs"))
	case len(unready) == len(pods):
		return append(found, failure(check, look+"; docs/reference/alerts.md#workloadresizerabsent", "no pod of the server is ready: %s", some(unready)))
	case len(unready) > 0:
		return append(found, warning(check, look+"; docs/reference/alerts.md#workloadresizerreplicadown", "%d of %s of the server not ready: %s", len(unready), count(len(pods), "pod"), some(unready)))
	}
	return append(found, ok(check, "all pods of the server are ready: %d", len(pods)))
}

// pods returns the pods behind the server's Service.
func (s *subject) pods(ctx context.Context) ([]corev1.Pod, error) {
	pods, err := s.kube.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.FormatLabels(s.deployed.Spec.Selector)})
	if err != nil {
		return nil, err
	}
	return pods.Items, nil
}

func isReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

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

// installed returns the objects of deploy/base that the server needs in every cluster, and those of
// the admission policies. They say which rights and policies there must be.
func installed() (objects []*unstructured.Unstructured, err error) {
	for _, manifest := range append(deploy.Base(), deploy.AnnotationGuard(), deploy.AccountGuard()) {
		for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096); ; {
			o := &unstructured.Unstructured{}
			if err := decoder.Decode(o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read the manifests of this program: %w", err)
			}
			objects = append(objects, o)
		}
	}
	return objects, nil
}

const reapply = "apply the manifests again: docs/tasks/install.md (a server outside of the cluster has no policies)"

// policies checks whether the admission policies of deploy/base exist, are bound, and compile.
func (s *subject) policies(ctx context.Context) []Result {
	objects, err := installed()
	if err != nil {
		return []Result{unknown("admission-policies", "admission policies", err)}
	}
	var found []Result
	for _, o := range objects {
		if o.GetKind() == "ValidatingAdmissionPolicy" {
			found = append(found, s.policy(ctx, o.GetName()))
		}
	}
	return found
}

func (s *subject) policy(ctx context.Context, name string) Result {
	check := name
	policy, err := s.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return warning(check, reapply, "there is no policy %s", name)
	case err != nil:
		return unknown(check, "the policy "+name, err)
	}
	if checked := policy.Status.TypeChecking; checked != nil && len(checked.ExpressionWarnings) > 0 {
		return warning(check, "report this with the version of the API server", "the API server finds faults in the policy %s: %s", name, checked.ExpressionWarnings[0].Warning)
	}
	bindings, err := s.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(ctx, metav1.ListOptions{})
	if err != nil {
		return unknown(check, "the binding of the policy "+name, err)
	}
	for i := range bindings.Items {
		b := &bindings.Items[i]
		if b.Spec.PolicyName == name && slices.Contains(b.Spec.ValidationActions, admissionv1.Deny) {
			return ok(check, "the policy %s is in effect", name)
		}
	}
	return warning(check, reapply, "the policy %s is not bound with the action Deny, so it is not in effect", name)
}
