package chaos

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// resizers are the other actors that resize pods.
var resizers = []string{"they", "kubectl-edit", "operator"}

// resizeByAnother sets a request, a limit, or both, of one resource of one container, as
// another actor would, in one of the possible ways.
func (c *crashes) resizeByAnother(t *testing.T, r *rand.Rand, key types.NamespacedName) {
	t.Helper()
	pod := c.get(t, key)
	all := resizable(pod)
	p := pair{all[r.IntN(len(all))], []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}[r.IntN(2)]}
	if p.now().Request == 0 || cpuOnly.Load() && p.resource == corev1.ResourceMemory {
		return
	}
	manager, to := resizers[r.IntN(len(resizers))], anotherAmount(r, p)
	switch r.IntN(4) {
	case 0:
		setAmount(p, to)
		c.wroteUnlessRefused(t, pod)(c.podsOf(key).UpdateResize(t.Context(), key.Name, pod, metav1.UpdateOptions{FieldManager: manager}))
	case 1:
		c.wroteUnlessRefused(t, pod)(c.podsOf(key).Patch(t.Context(), key.Name, types.StrategicMergePatchType, onlyAmount(pod, p, to, nil), metav1.PatchOptions{FieldManager: manager}, "resize"))
	default:
		if r.IntN(3) == 0 {
			to = p.now() // The actor agrees with the current amounts.
		}
		c.apply(t, r, pod, p, to)
	}
}

// apply sets amounts with server-side apply. Each set of amounts has its own manager: a
// manager that applies one amount would give up the others that it applied before.
func (c *crashes) apply(t *testing.T, r *rand.Rand, pod *corev1.Pod, p pair, to oracle.Amount) {
	t.Helper()
	which := "both"
	switch r.IntN(3) {
	case 0:
		to.Limit, which = 0, "request"
	case 1:
		if to.Limit > 0 {
			to.Request, which = 0, "limit"
		}
	}
	manager, force := fmt.Sprintf("apply-%s-%s-%.8s", p.resource, which, p.container.Name), true
	body := onlyAmount(pod, p, to, map[string]any{"apiVersion": "v1", "kind": "Pod"})
	c.wroteUnlessRefused(t, pod)(c.client.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: manager, Force: &force}, "resize"))
}

// anotherAmount returns what another actor could want instead, for the request, the
// limit, or both.
func anotherAmount(r *rand.Rand, p pair) oracle.Amount {
	to := p.now()
	which := r.IntN(3)
	if which != 1 || to.Limit == 0 {
		to.Request = max(1, to.Request*int64(20+r.IntN(230))/100)
	}
	if to.Limit == 0 {
		return to
	}
	if which != 0 {
		to.Limit = max(1, to.Limit*int64(50+r.IntN(200))/100)
	}
	if p.now().Request == p.now().Limit && r.IntN(4) > 0 {
		to.Limit = to.Request // As it must be if the pod is Guaranteed.
	}
	switch {
	case to.Limit >= to.Request:
	case which == 1:
		to.Limit = to.Request
	default:
		to.Request = to.Limit
	}
	return to
}

// setAmount sets the request and the limit.
func setAmount(p pair, to oracle.Amount) {
	p.container.Resources.Requests[p.resource] = quantity(p.resource, to.Request)
	if to.Limit > 0 {
		p.container.Resources.Limits[p.resource] = quantity(p.resource, to.Limit)
	}
}

// quantity returns an amount as the API server writes it: for server-side apply, a
// different text is a different value.
func quantity(name corev1.ResourceName, v int64) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(v, resource.DecimalSI)
	}
	return *resource.NewQuantity(v, resource.BinarySI)
}

// onlyAmount adds to patch only this amount, without zeros, and the condition that the
// pod is unchanged since it was read.
func onlyAmount(pod *corev1.Pod, p pair, to oracle.Amount, patch map[string]any) []byte {
	resources := map[string]any{}
	for list, v := range map[string]int64{"requests": to.Request, "limits": to.Limit} {
		if q := quantity(p.resource, v); v > 0 {
			resources[list] = map[string]string{string(p.resource): q.String()}
		}
	}
	containers := "containers"
	if p.container.RestartPolicy != nil {
		containers = "initContainers"
	}
	if patch == nil {
		patch = map[string]any{}
	}
	patch["metadata"] = map[string]string{"resourceVersion": pod.ResourceVersion}
	patch["spec"] = map[string]any{containers: []any{map[string]any{"name": p.container.Name, "resources": resources}}}
	body, err := json.Marshal(patch)
	if err != nil {
		panic(err) // It contains only strings.
	}
	return body
}

// wroteUnlessRefused records a state that was just written. Writes that the API server
// rejects, conflicts, and writes that change nothing are not recorded: another actor
// wrote that state.
func (c *crashes) wroteUnlessRefused(t *testing.T, before *corev1.Pod) func(*corev1.Pod, error) {
	t.Helper()
	return func(pod *corev1.Pod, err error) {
		t.Helper()
		switch {
		case err == nil && pod.ResourceVersion != before.ResourceVersion:
			c.ledger.wrote(pod)
		case err == nil:
		case !apierrors.IsConflict(err) && !apierrors.IsInvalid(err):
			t.Fatal(err)
		}
	}
}

// annotate writes annotations as a manager, and records the state.
func (c *crashes) annotate(t *testing.T, key types.NamespacedName, manager string, annotations map[string]string) *corev1.Pod {
	t.Helper()
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		t.Fatal(err)
	}
	pod, err := c.podsOf(key).Patch(t.Context(), key.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager})
	if err != nil {
		t.Fatal(err)
	}
	c.ledger.wrote(pod)
	return pod
}

// crowd lets up to that many managers write the pod. If there are more than ten, the API
// server merges its record of the first ones.
func (c *crashes) crowd(t *testing.T, r *rand.Rand, key types.NamespacedName, most int) {
	t.Helper()
	for i := range 1 + r.IntN(most) {
		c.annotate(t, key, fmt.Sprintf("note-%d", i), map[string]string{fmt.Sprintf("note-%d", i): fmt.Sprint(r.Uint64())})
	}
}

// debug adds an ephemeral container, which gives a pod with the same sizes a new
// generation.
func (c *crashes) debug(t *testing.T, key types.NamespacedName) {
	t.Helper()
	pod := c.get(t, key)
	before := pod.DeepCopy()
	name := fmt.Sprintf("debug-%d", len(pod.Spec.EphemeralContainers))
	pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "none", TerminationMessagePolicy: corev1.TerminationMessageReadFile}})
	c.wroteUnlessRefused(t, before)(c.podsOf(key).UpdateEphemeralContainers(t.Context(), key.Name, pod, metav1.UpdateOptions{FieldManager: "debugger"}))
}
