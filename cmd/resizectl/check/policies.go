package check

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
