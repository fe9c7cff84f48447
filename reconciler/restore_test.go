package reconciler

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// planAs plans a pod in its current state, with changes to the planner and to the
// snapshot.
func (s *apiServer) planAs(t *testing.T, p *corev1.Pod, nodeType string, changes ...func(*plan.Planner, *plan.Snapshot)) *plan.Plan {
	t.Helper()
	owned := p
	controller := true
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Controller: &controller}}
	planner, snapshot := plan.Planner{OwnerKinds: plan.DefaultOwnerKinds, KeepMemoryLimits: s.keepsMemoryLimits()}, alone(t, owned, podtest.Node(nodeType))
	for _, change := range changes {
		change(&planner, snapshot)
	}
	return planner.Plan(snapshot)
}

func restoring(_ *plan.Planner, s *plan.Snapshot) { s.Restore = true }

func (s *apiServer) do(t *testing.T, p *plan.Plan) {
	t.Helper()
	if !p.Pending() {
		t.Fatalf("nothing pending: %v, %v", p.Decision, p.Reasons)
	}
	if _, err := s.actuator.CarryOut(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// nextSecond waits for the next second: times in managedFields are whole seconds.
func (s *apiServer) nextSecond(t *testing.T) {
	t.Helper()
	written := time.Now().Truncate(time.Second)
	localcluster.Eventually(t, "the next second", func() error {
		if !time.Now().Truncate(time.Second).After(written) {
			return errors.New("it is still the same second")
		}
		return nil
	})
}

// resizeAs resizes the pod as another field manager.
func (s *apiServer) resizeAs(t *testing.T, p *corev1.Pod, manager string, to podtest.Amounts) *corev1.Pod {
	t.Helper()
	s.nextSecond(t)
	p = s.get(t, p)
	p.Spec.Containers[0].Resources = to.Requirements()
	p, err := s.client.CoreV1().Pods(p.Namespace).UpdateResize(t.Context(), p.Name, p, metav1.UpdateOptions{FieldManager: manager})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *apiServer) restores(t *testing.T) {
	created := s.pod(t, podtest.Guaranteed, func(p *corev1.Pod) { p.Annotations = map[string]string{"theirs": "stays"} })
	p := s.carryOut(t, created, "n4")
	s.do(t, s.planAs(t, p, "n4", restoring))
	p = s.get(t, p)
	if p.Annotations["theirs"] != "stays" {
		t.Errorf("annotations %v", p.Annotations)
	}
	delete(p.Annotations, "theirs")
	check(t, p, podtest.Guaranteed)
	for _, m := range p.ManagedFields {
		if m.Manager == contract.FieldManager {
			t.Errorf("our managed fields remain: %v", m)
		}
	}
	if len(p.ManagedFields) < len(created.ManagedFields) {
		t.Errorf("managed by %v, before by %v", p.ManagedFields, created.ManagedFields)
	}
	again := s.planAs(t, p, "n4", restoring)
	if again.Pending() || again.Reasons[0].Code != contract.Restored {
		t.Errorf("restored: %v because of %v", again.Decision, again.Reasons)
	}
	// After the restore ends, the pod is resized as if for the first time.
	p = s.carryOut(t, p, "big")
	delete(p.Annotations, "theirs")
	check(t, p, s.onBig(), applied("big")...)
}

// A pod that has changed since it was seen with its originals is not cleaned.
func (s *apiServer) doesNotCleanChangedPods(t *testing.T) {
	p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "n2d")
	planned := s.planAs(t, p, "n2d", restoring)
	s.carryOut(t, p, "n4")
	if _, err := s.actuator.CarryOut(t.Context(), planned); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	check(t, s.get(t, p), podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")...)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// restoresDespiteTheKubelet: the kubelet updates the pod's status between the two writes
// of a restore.
func (s *apiServer) restoresDespiteTheKubelet(t *testing.T) {
	p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "n4")
	writes := 0
	config := s.cluster.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPatch {
				writes++
			}
			if r.Method == http.MethodPatch && writes == 2 {
				now := s.get(t, p)
				now.Status.Message = "at it"
				s.status(t, now)
			}
			return next.RoundTrip(r)
		})
	})
	a := *s.actuator
	a.Client = kubernetes.NewForConfigOrDie(config)
	if _, err := a.CarryOut(t.Context(), s.planAs(t, p, "n4", restoring)); err != nil {
		t.Fatal(err)
	}
	check(t, s.get(t, p), podtest.Guaranteed)
	if writes != 3 {
		t.Errorf("%d writes, want the resize, an outdated clean, and another clean", writes)
	}
}

func (s *apiServer) restoresRecords(t *testing.T) {
	p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "n2d")
	s.do(t, s.planAs(t, p, "n2d", restoring))
	check(t, s.get(t, p), podtest.Guaranteed)
}

// condition returns a condition that a kubelet sets for a resize.
func condition(kind corev1.PodConditionType, reason, message string) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(time.Now().Add(time.Second))}
}

func (s *apiServer) reverts(t *testing.T) {
	type refusedResize struct {
		name      string
		condition corev1.PodCondition
		want      podtest.Amounts
	}
	cases := []refusedResize{{"an infeasible resize completely", condition(corev1.PodResizePending, corev1.PodReasonInfeasible, "static"), podtest.Guaranteed}}
	if !s.keepsMemoryLimits() {
		// On earlier versions no memory limit shrinks, so none gets below the usage.
		cases = append(cases, refusedResize{"only the memory that blocks a failing resize", condition(corev1.PodResizeInProgress, corev1.PodReasonError, "below usage"), podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}})
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "big") // The container statuses still have the previous size.
			p.Status.Conditions = append(p.Status.Conditions, tc.condition)
			p = s.status(t, p)
			planned := s.planAs(t, p, "big")
			if planned.Kind != plan.RevertRefused || planned.Reasons[0].Message != tc.condition.Message {
				t.Fatalf("%v because of %v", planned.Decision, planned.Reasons)
			}
			refused := &plan.Refusal{Reason: planned.Reasons[0], Wanted: planned.Wanted}
			s.do(t, planned)
			p = s.get(t, p)
			check(t, p, tc.want, applied("big")...)
			p.Status.Conditions = nil
			p = s.status(t, p)
			remember := func(_ *plan.Planner, s *plan.Snapshot) { s.Refused = refused }
			if again := s.planAs(t, p, "big", remember); again.Decision != plan.Skip || again.Reasons[0] != refused.Reason {
				t.Errorf("after the revert: %v because of %v", again.Decision, again.Reasons)
			}
			larger := plan.Resize
			if refused.Reason.Code == contract.ResizeInfeasible {
				larger = plan.Skip // What the node cannot satisfy, it cannot exceed either.
			}
			if other := s.planAs(t, p, "slow", remember); other.Decision != larger {
				t.Errorf("a larger size: %v because of %v", other.Decision, other.Reasons)
			}
		})
	}
}

func (s *apiServer) detectsOtherActors(t *testing.T) {
	theirs := podtest.Amounts{"640m", "640m", "1Gi", "1Gi"}
	p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "n4")
	p = s.resizeAs(t, p, "they", theirs)

	left := s.planAs(t, p, "n4")
	if left.Decision != plan.Skip || left.Reasons[0].Code != contract.ExternallyResized || left.Reasons[0].Message != "container app: cpu stays as they set it (640m/640m, originally 1/1)" {
		t.Fatalf("%v because of %v", left.Decision, left.Reasons)
	}
	if overridden := s.planAs(t, p, "n4", func(p *plan.Planner, _ *plan.Snapshot) { p.External = plan.OverrideExternal }); overridden.Decision != plan.Resize || overridden.Containers[0].Desired.CPU.Request != 800 {
		t.Errorf("with override: %v because of %v", overridden.Decision, overridden.Reasons)
	}
	adopt := func(p *plan.Planner, _ *plan.Snapshot) { p.External = plan.AdoptExternal }
	s.do(t, s.planAs(t, p, "n4", adopt))
	p = s.get(t, p)
	if _, err := time.Parse(time.RFC3339, p.Annotations[contract.AdoptedAt]); err != nil {
		t.Error(err)
	}
	again := p.DeepCopy()
	delete(again.Annotations, contract.AdoptedAt)
	check(t, again, theirs, "adopted-cpu.app", "640m", "adopted-cpu-limit.app", "640m", "original-cpu.app", "800m", "original-cpu-limit.app", "800m", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi",
		"applied-instance-type", "n4", "applied-at", "2026-11-21T01:02:03Z")
	if again := s.planAs(t, p, "n4", adopt); again.Pending() {
		t.Errorf("adopted: %v because of %v", again.Decision, again.Reasons)
	}
	if later := s.planAs(t, p, "big", adopt); later.Containers[0].Desired.CPU.Request != 400 {
		t.Errorf("on a new ratio: %v", later.Containers[0].Desired)
	}
	p = s.resizeAs(t, p, "they", podtest.Guaranteed)
	if restored := s.planAs(t, p, "n4", restoring); restored.Pending() || restored.Reasons[0].Code != contract.ExternallyResized {
		t.Errorf("a restore would change the other actor's size, or lose the originals: %v because of %v", restored.Decision, restored.Reasons)
	}
}

// resizedFirst: another actor resizes a pod before our first resize.
func (s *apiServer) resizedFirst(t *testing.T) {
	p := s.resizeAs(t, s.pod(t, podtest.Guaranteed), "they", podtest.Amounts{"640m", "640m", "1Gi", "1Gi"})
	as := func(e plan.External) func(*plan.Planner, *plan.Snapshot) {
		return func(p *plan.Planner, _ *plan.Snapshot) { p.External = e }
	}
	for _, external := range []plan.External{plan.LeaveExternal, plan.OverrideExternal} {
		if planned := s.planAs(t, p, "n4", as(external)); planned.Decision != plan.Skip || planned.Reasons[0].Code != contract.ExternallyResized {
			t.Errorf("%s: %v because of %v", external, planned.Decision, planned.Reasons)
		}
	}
	s.do(t, s.planAs(t, p, "n4", as(plan.AdoptExternal)))
	p = s.get(t, p)
	if got := p.Annotations[contract.CPURequest.Key("app")]; got != "800m" {
		t.Errorf("adopted with an original of %s", got)
	}
	if planned := s.planAs(t, p, "big", as(plan.AdoptExternal)); planned.Containers[0].Desired.CPU.Request != 400 {
		t.Errorf("on a new ratio: %v because of %v", planned.Containers[0].Desired, planned.Reasons)
	}
}

// adoptsParts: if another actor resized one container, that container is adopted, and the
// originals of the other containers are the sizes that they were created with.
func (s *apiServer) adoptsParts(t *testing.T) {
	p := s.pod(t, podtest.Guaranteed, func(p *corev1.Pod) {
		second := p.Spec.Containers[0]
		second.Name = "second"
		p.Spec.Containers = append(p.Spec.Containers, second)
	})
	p = s.resizeAs(t, p, "they", podtest.Amounts{"640m", "640m", "1Gi", "1Gi"})
	adopt := func(p *plan.Planner, _ *plan.Snapshot) { p.External = plan.AdoptExternal }
	s.do(t, s.planAs(t, p, "n4", adopt))
	p = s.get(t, p)
	for i, want := range []string{"640m", "800m"} {
		if got := p.Spec.Containers[i].Resources.Requests.Cpu().String(); got != want {
			t.Errorf("%s has %s, want %s", p.Spec.Containers[i].Name, got, want)
		}
	}
	if again := s.planAs(t, p, "n4", adopt); again.Pending() {
		t.Errorf("still pending: %v because of %v: %s", again.Decision, again.Reasons, again.Describe())
	}
}

// continuesThePublished resizes a pod of the published controller for several ratios.
func (s *apiServer) continuesThePublished(t *testing.T) {
	p := s.annotateAs(t, s.pod(t, podtest.Guaranteed), "published", "original-cpu.app", "1", "original-memory.app", "1Gi")
	p = s.resizeAs(t, p, "published", podtest.Amounts{"800m", "800m", "1Gi", "1Gi"})
	p = s.annotateAs(t, p, "published", "applied-instance-type", "n4", "applied-at", "2026-11-21T01:02:03Z")
	if planned := s.planAs(t, p, "n4"); planned.Decision != plan.Align || planned.Pending() {
		t.Errorf("unchanged: %v because of %v", planned.Decision, planned.Reasons)
	}
	s.nextSecond(t)
	for nodeType, want := range map[string]string{"slow": "1250m", "big": "500m", "n2d": "1"} {
		p = s.carryOut(t, p, nodeType)
		if got := p.Spec.Containers[0].Resources.Requests.Cpu().String(); got != want {
			t.Errorf("on %s it has %s, want %s", nodeType, got, want)
		}
	}
	s.do(t, s.planAs(t, p, "n2d", restoring))
}

// continuesTheUnresized resizes a pod that the published controller only annotated,
// because there was nothing to resize, as on the baseline.
func (s *apiServer) continuesTheUnresized(t *testing.T) {
	p := s.annotateAs(t, s.pod(t, podtest.Guaranteed), "published", "original-cpu.app", "1", "original-memory.app", "1Gi", "applied-instance-type", "n2d", "applied-at", "2026-11-20T01:02:03Z")
	p = s.carryOut(t, p, "n4")
	if planned := s.planAs(t, p, "big"); planned.Containers[0].Desired.CPU.Request != 500 {
		t.Errorf("on another node type: %v because of %v", planned.Decision, planned.Reasons)
	}
	if planned := s.planAs(t, p, "n4", restoring); !cleans(planned) || planned.Containers[0].Desired.CPU.Request != 1000 {
		t.Errorf("restore: %v because of %v", planned.Decision, planned.Reasons)
	}
}

// annotateAs writes annotations as an actor that may not resize.
func (s *apiServer) annotateAs(t *testing.T, p *corev1.Pod, manager string, pairs ...string) *corev1.Pod {
	t.Helper()
	annotations := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		annotations[contract.Prefix+pairs[i]] = pairs[i+1]
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		t.Fatal(err)
	}
	p, err = s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.MergePatchType, body, metav1.PatchOptions{FieldManager: manager})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *apiServer) disbelieves(t *testing.T) {
	forged := []string{"original-cpu.app", "6", "original-cpu-limit.app", "6", "applied-instance-type", "n4"}
	t.Run("uses the spec before the first resize", func(t *testing.T) {
		planned := s.planAs(t, s.annotateAs(t, s.pod(t, podtest.Guaranteed), "kubectl-edit", forged...), "n4")
		if got := reasonsOf(planned); !slices.Equal(got, []contract.Reason{contract.AnnotationIgnored}) {
			t.Errorf("reasons %v", planned.Reasons)
		}
		s.do(t, planned)
		p := s.get(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: planned.Pod.Namespace, Name: planned.Pod.Name}})
		check(t, p, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")...)
	})
	t.Run("corrects the record of a pod that needs no resize", func(t *testing.T) {
		p := s.annotateAs(t, s.carryOut(t, s.pod(t, podtest.Guaranteed), "n2d"), "kubectl-edit", "original-cpu.app", "much")
		planned := s.planAs(t, p, "n2d")
		if planned.Decision != plan.Align || !slices.Contains(reasonsOf(planned), contract.AnnotationIgnored) {
			t.Fatalf("%v because of %v", planned.Decision, planned.Reasons)
		}
		s.do(t, planned)
		check(t, s.get(t, p), podtest.Guaranteed, applied("n2d")...)
	})
	t.Run("skips a pod after a resize", func(t *testing.T) {
		p := s.annotateAs(t, s.carryOut(t, s.pod(t, podtest.Guaranteed), "n4"), "kubectl-edit", forged...)
		planned := s.planAs(t, p, "n4")
		if planned.Decision != plan.Skip || planned.Reasons[0].Code != contract.InvalidAnnotation || !strings.Contains(planned.Reasons[0].Message, `"kubectl-edit"`) {
			t.Errorf("%v because of %v", planned.Decision, planned.Reasons)
		}
	})
	t.Run("skips a pod whose managed fields were reset", func(t *testing.T) {
		p := s.annotateAs(t, s.pod(t, podtest.Guaranteed), "kubectl-edit", forged...)
		p, err := s.client.CoreV1().Pods(p.Namespace).Patch(t.Context(), p.Name, types.MergePatchType, []byte(`{"metadata":{"managedFields":[{}]}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if planned := s.planAs(t, p, "n4"); planned.Decision != plan.Skip || planned.Reasons[0].Code != contract.InvalidAnnotation {
			t.Errorf("%v because of %v", planned.Decision, planned.Reasons)
		}
	})
	t.Run("does not resize a pod that too many managers wrote", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "n4")
		for i := range 13 {
			p = s.annotateAs(t, p, fmt.Sprintf("manager-%d", i), fmt.Sprintf("note-%d", i), "x")
		}
		if planned := s.planAs(t, p, "n4"); planned.Decision == plan.Resize || slices.Contains(reasonsOf(planned), contract.AnnotationIgnored) {
			t.Errorf("%v because of %v", planned.Decision, planned.Reasons)
		}
	})
	t.Run("does not resize a pod that too many managers wrote after one applied it unchanged", func(t *testing.T) {
		p := s.applyPod(t, s.carryOut(t, s.pod(t, podtest.Guaranteed), "n4"))
		s.nextSecond(t) // The API server drops entries of the same second in any order.
		for i := range 20 {
			p = s.annotateAs(t, p, fmt.Sprintf("manager-%d", i), fmt.Sprintf("note-%d", i), "x")
		}
		for _, nodeType := range []string{"n4", "slow"} {
			if planned := s.planAs(t, p, nodeType); planned.Decision == plan.Resize || slices.Contains(reasonsOf(planned), contract.AnnotationIgnored) {
				t.Errorf("on %s: %v because of %v", nodeType, planned.Decision, planned.Reasons)
			}
		}
		if planned := s.planAs(t, p, "n4", restoring); planned.Pending() || planned.Reasons[0].Code != contract.InvalidAnnotation {
			t.Errorf("restore: %v because of %v", planned.Decision, planned.Reasons)
		}
	})
	t.Run("trusts the originals of an actor that resized the pod", func(t *testing.T) {
		p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "n4")
		p = s.annotateAs(t, s.resizeAs(t, p, "operator", podtest.Amounts{"1600m", "1600m", "1Gi", "1Gi"}), "operator", "original-cpu.app", "2", "original-cpu-limit.app", "2")
		if planned := s.planAs(t, p, "n4"); planned.Decision != plan.Align {
			t.Errorf("%v because of %v", planned.Decision, planned.Reasons)
		}
	})
}

func (s *apiServer) longNames(t *testing.T) {
	names := []string{strings.Repeat("a", 62) + "1", strings.Repeat("a", 62) + "2", strings.Repeat("b", 63)}
	p := s.pod(t, podtest.Guaranteed, func(p *corev1.Pod) {
		template := p.Spec.Containers[0]
		p.Spec.Containers = nil
		for i, name := range names {
			c := template
			c.Name = name
			c.Resources = podtest.Amounts{fmt.Sprint(i + 1), fmt.Sprint(i + 1), "1Gi", "1Gi"}.Requirements()
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
	})
	for _, step := range []struct {
		nodeType string
		want     int64
	}{{"n4", 800}, {"big", 500}, {"n2d", 1000}} {
		p = s.carryOut(t, p, step.nodeType)
		for i, c := range p.Spec.Containers {
			if got := c.Resources.Requests.Cpu().MilliValue(); got != step.want*int64(i+1) {
				t.Errorf("on %s, %s has %dm", step.nodeType, c.Name, got)
			}
		}
	}
}

func (s *apiServer) sidecars(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	p := s.pod(t, podtest.Guaranteed, func(p *corev1.Pod) {
		sidecar := p.Spec.Containers[0]
		sidecar.Name, sidecar.RestartPolicy = "proxy", &always
		init := p.Spec.Containers[0]
		init.Name = "init"
		p.Spec.InitContainers = []corev1.Container{init, sidecar}
	})
	with := func(p *plan.Planner, _ *plan.Snapshot) { p.Sidecars = true }
	if planned := s.planAs(t, p, "n4"); len(planned.Containers) != 1 {
		t.Errorf("not enabled, but planned: %v", planned.Containers)
	}
	s.do(t, s.planAs(t, p, "n4", with))
	p = s.get(t, p)
	for i, want := range []string{"1", "800m"} {
		if got := p.Spec.InitContainers[i].Resources.Requests.Cpu().String(); got != want {
			t.Errorf("%s has %s, want %s", p.Spec.InitContainers[i].Name, got, want)
		}
	}
	if p.Annotations[contract.CPURequest.Key("proxy")] != "1" {
		t.Errorf("annotations %v", p.Annotations)
	}
	if planned := s.planAs(t, p, "n4", with); planned.Pending() {
		t.Errorf("still pending: %v", planned.Reasons)
	}
	// Even with the flag off, a restore reverts what was resized with it.
	s.do(t, s.planAs(t, p, "n4", restoring))
	if got := s.get(t, p).Spec.InitContainers[1].Resources.Requests.Cpu().String(); got != "1" {
		t.Errorf("restored, the sidecar has %s", got)
	}
}
