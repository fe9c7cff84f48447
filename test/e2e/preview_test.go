package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// freeze is a policy that rejects every resize in a namespace. Only the API server knows
// about it.
const freeze = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: freeze }
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - { apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods/resize] }
  validations:
    - { expression: "false", message: "no pod is resized until Monday" }
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: freeze }
spec:
  policyName: freeze
  validationActions: [Deny]
  matchResources:
    namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: preview-frozen } }
`

// serverSidePreview asks the API server about a resize. The plan is unchanged if the API
// server accepts the resize, and has the API server's message if not.
func (c *cluster) serverSidePreview(t *testing.T) {
	const open, frozen = "preview", "preview-frozen"
	s := c.serveReady(t, "--dry-run")
	c.apply(t, []byte(freeze))
	t.Cleanup(func() { c.thaw(t) })
	for _, namespace := range []string{open, frozen} {
		c.namespace(t, namespace)
		c.deploy(t, namespace, app{name: "web", nodeType: "n4", requests: small})
	}
	passes, refused := c.one(t, open, "web"), c.one(t, frozen, "web")

	plain := s.resizectl(t, 1, "plan", "-n", open, passes.Name, "-o", "yaml")
	if asked := s.resizectl(t, 1, "plan", "-n", open, passes.Name, "-o", "yaml", "--server-side-preview"); asked != plain {
		t.Errorf("the API server accepts the resize, but the plan is\n%swithout it\n%s", asked, plain)
	}

	wants(t, s.resizectl(t, 1, "plan", "-n", frozen, refused.Name), "100m → 80m")
	localcluster.Eventually(t, "the policy to take effect", func() error {
		_, out, errOut := run(t, "resizectl", append(slices.Clone(s.connection), "plan", "-n", frozen, refused.Name, "--server-side-preview")...)
		if !strings.Contains(out, "until Monday") {
			return fmt.Errorf("the plan is %s%s", out, errOut)
		}
		return nil
	})
	wants(t, s.resizectl(t, 0, "plan", "-n", frozen, "--server-side-preview"), "ResizeFailed", "0 to resize")
	wants(t, s.resizectl(t, 0, "plan", "-n", frozen, refused.Name, "--server-side-preview"),
		"is skipped: ResizeFailed: dry run on the API server: ", "ValidatingAdmissionPolicy 'freeze'", "no pod is resized until Monday")

	for _, before := range []struct{ namespace, written string }{{open, written(passes)}, {frozen, written(refused)}} {
		if now := c.one(t, before.namespace, "web"); written(now) != before.written {
			t.Errorf("a preview wrote pod %s/%s", now.Namespace, now.Name)
		}
	}
}

func (c *cluster) thaw(t *testing.T) {
	ctx, admission := context.WithoutCancel(t.Context()), c.client.AdmissionregistrationV1()
	err := errors.Join(
		admission.ValidatingAdmissionPolicyBindings().Delete(ctx, "freeze", metav1.DeleteOptions{}),
		admission.ValidatingAdmissionPolicies().Delete(ctx, "freeze", metav1.DeleteOptions{}),
	)
	if err != nil {
		t.Error(err)
	}
}
