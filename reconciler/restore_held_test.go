package reconciler

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// mostCPU limits the cpu request of pods with a label to 900m when they are resized.
const mostCPU = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: { name: most-cpu }
spec:
  matchConstraints:
    objectSelector: { matchLabels: { most-cpu: 900m } }
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods/resize] }]
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConditions:
    - { name: more, expression: 'quantity(string(object.spec.containers[0].resources.requests["cpu"])).isGreaterThan(quantity("900m"))' }
  mutations:
    - patchType: JSONPatch
      jsonPatch:
        expression: '[JSONPatch{op: "replace", path: "/spec/containers/0/resources/requests/cpu", value: "900m"}]'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: { name: most-cpu }
spec: { policyName: most-cpu }
`

// restoresHeld: an admission plugin changes a restore to sizes other than the originals.
func (s *apiServer) restoresHeld(t *testing.T) {
	labelled := func(p *corev1.Pod) { p.Labels = map[string]string{"most-cpu": "900m"} }
	p := s.carryOut(t, s.pod(t, podtest.Amounts{"1", "", "1Gi", ""}, labelled), "n4")
	if err := localcluster.Apply(t.Context(), s.cluster.Config(), []byte(mostCPU)); err != nil {
		t.Fatal(err)
	}
	probe := s.pod(t, podtest.Amounts{"100m", "", "1Gi", ""}, labelled)
	localcluster.Eventually(t, "the policy to be in effect", func() error {
		got, err := s.client.CoreV1().Pods(probe.Namespace).Patch(t.Context(), probe.Name, types.StrategicMergePatchType,
			[]byte(`{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"2"}}}]}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, contract.ResizeSubresource)
		if err == nil && got.Spec.Containers[0].Resources.Requests.Cpu().String() != "900m" {
			err = apierrors.NewConflict(corev1.Resource("pods"), "pod", errors.New("it has changed"))
		}
		return err
	})
	if _, err := s.actuator.CarryOut(t.Context(), s.planAs(t, p, "n4", restoring)); err == nil {
		t.Error("the restore returned no error")
	}
	p = s.get(t, p)
	if got := p.Annotations[contract.CPURequest.Key("app")]; got != "1" {
		t.Errorf("the original is %q, with %s", got, podtest.SizesOf(p))
	}
}
