package reconciler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// A real API server applies or refuses each patch. The tests write only the statuses of
// pods and nodes, because there are no kubelets.

type apiServer struct {
	cluster  *localcluster.Cluster
	version  *version.Version
	client   kubernetes.Interface
	dynamic  dynamic.Interface
	actuator *actuate.Actuator
	count    int
}

func TestActuator(t *testing.T) {
	t.Parallel()
	cluster := localcluster.ForTest(t, "")
	config := cluster.Config()
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	s := &apiServer{cluster: cluster, version: cluster.Version(), client: client, dynamic: dynamic.NewForConfigOrDie(config), actuator: actuate.New(actuate.Config{
		Client: client, Limiter: actuate.NewLimiter(0, 0), Permit: actuate.Always,
		Clock:   testingclock.NewFakePassiveClock(time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)),
		Metrics: actuate.NewMetrics(prometheus.NewRegistry()),
	})}
	s.node(t, "node")

	t.Run("writes the originals, the sizes and what was applied", s.resizes)
	t.Run("does not overwrite originals", s.keepsOriginals)
	t.Run("records a pod that needs no resize in one write", s.records)
	t.Run("stops at the first failed write, and completes the rest later", s.completesFailedPlans)
	t.Run("can be stopped before each write, and completes the rest later", s.stops)
	t.Run("never writes another pod of the same name", s.ignoresPodsOfTheSameName)
	t.Run("never overwrites another actor's later change", s.keepsLaterChanges)
	t.Run("reports a deleted pod as outdated, not as refused", s.reportsDeletedPodsAsOutdated)
	t.Run("returns ResizeUnsupported for a node that cannot resize", s.unsupported)
	t.Run("returns the reason for a refusal", s.refused)
	t.Run("removes all traces in a restore", s.restores)
	t.Run("restores a pod that was only recorded", s.restoresRecords)
	t.Run("restores despite concurrent writes of the kubelet", s.restoresDespiteTheKubelet)
	t.Run("does not clean a pod that has changed", s.doesNotCleanChangedPods)
	t.Run("reverts what the node refuses", s.reverts)
	t.Run("detects resizes by another actor", s.detectsOtherActors)
	t.Run("skips or adopts a pod that another actor resized first", s.resizedFirst)
	t.Run("adopts only the containers that another actor resized", s.adoptsParts)
	t.Run("restores the parts that it can, and keeps the record of the rest", s.restoresParts)
	t.Run("restores the rest of a pod that lacks an original", s.restoresWithoutAnOriginal)
	if !s.version.LessThan(version.MustParseGeneric("1.36")) { // Earlier versions have no mutating policies.
		t.Run("keeps the originals of a pod whose restore an admission plugin changes", s.restoresHeld)
	}
	t.Run("restores a pod of the published controller, even if stopped before any write", s.restoresThePublished)
	t.Run("adopts only the amounts that another actor set", s.adoptsOnlyWhatTheySet)
	t.Run("shares fields with actors that apply them", s.sharesFields)
	t.Run("does not trust forged authors", s.distrusts)
	t.Run("resizes a pod of the published controller from its originals", s.continuesThePublished)
	t.Run("resizes a pod that the published controller only annotated", s.continuesTheUnresized)
	t.Run("does not trust annotations of actors that never sized the pod", s.disbelieves)
	t.Run("supports container names of 63 characters", s.longNames)
	t.Run("resizes sidecars if enabled", s.sidecars)
	t.Run("the loop keeps pods at their desired size", s.loop) // It changes its node, so no other test may use that node.
	t.Run("the loop follows the CPU models of nodes", s.models)
	t.Run("the loop uses no implausible ratios", s.implausible)
	t.Run("the loop uses the compute class that a gated pod gets", s.gates)
	t.Run("the loop continues while events hang", s.hangingEvents)
	t.Run("removes startup taints even if pods cannot be read", s.opens)
}

func (s *apiServer) node(t *testing.T, name string) *corev1.Node {
	t.Helper()
	return s.nodeOf(t, name, "n4")
}

func (s *apiServer) nodeOf(t *testing.T, name, nodeType string) *corev1.Node {
	t.Helper()
	n := podtest.Node(nodeType)
	n.Name = name
	n.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("8"), "memory": resource.MustParse("32Gi"), "pods": resource.MustParse("100")}
	n.Status.Capacity = n.Status.Allocatable
	n, err := s.client.CoreV1().Nodes().Create(t.Context(), n, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// pod creates a pod that runs on the node, in a namespace of its own.
func (s *apiServer) pod(t *testing.T, app podtest.Amounts, changes ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	return s.podIn(t, s.namespace(t), app, changes...)
}

func (s *apiServer) namespace(t *testing.T) string {
	t.Helper()
	s.count++
	ns := fmt.Sprintf("actuator-%d", s.count)
	if _, err := s.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return ns
}

func (s *apiServer) podIn(t *testing.T, ns string, app podtest.Amounts, changes ...func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	no := false
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "pod"},
		Spec: corev1.PodSpec{
			NodeName: "node", AutomountServiceAccountToken: &no,
			Containers: []corev1.Container{{Name: "app", Image: "none", Resources: app.Requirements()}},
		},
	}
	for _, change := range changes {
		change(p)
	}
	var created *corev1.Pod
	localcluster.Eventually(t, "the namespace's ServiceAccount", func() (err error) {
		created, err = s.client.CoreV1().Pods(ns).Create(t.Context(), p, metav1.CreateOptions{})
		return err
	})
	created.Status.StartTime = p.Status.StartTime // The API server takes none at the creation.
	return s.running(t, created)
}

// running writes the status of a pod whose containers run as the spec says.
func (s *apiServer) running(t *testing.T, created *corev1.Pod) *corev1.Pod {
	t.Helper()
	created.Status.Phase = corev1.PodRunning
	for i := range created.Spec.Containers {
		c := &created.Spec.Containers[i]
		created.Status.ContainerStatuses = append(created.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Resources: &c.Resources, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
	}
	return s.status(t, created)
}

func (s *apiServer) status(t *testing.T, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	p, err := s.client.CoreV1().Pods(p.Namespace).UpdateStatus(t.Context(), p, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (s *apiServer) get(t *testing.T, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	p, err := s.client.CoreV1().Pods(p.Namespace).Get(t.Context(), p.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// plan plans the pod for the node type, with an arbitrary owner.
func (s *apiServer) plan(t *testing.T, p *corev1.Pod, nodeType string) *plan.Plan {
	t.Helper()
	owned := p
	controller := true
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Controller: &controller}}
	planner := plan.Planner{OwnerKinds: plan.DefaultOwnerKinds, KeepMemoryLimits: s.keepsMemoryLimits()}
	planned := planner.Plan(alone(t, owned, podtest.Node(nodeType)))
	if planned.Decision == plan.Skip {
		t.Fatalf("skipped: %v", planned.Reasons)
	}
	return planned
}

func (s *apiServer) carryOut(t *testing.T, p *corev1.Pod, nodeType string) *corev1.Pod {
	t.Helper()
	resourceVersion, err := s.actuator.CarryOut(t.Context(), s.plan(t, p, nodeType))
	if err != nil {
		t.Fatal(err)
	}
	p = s.get(t, p)
	if p.ResourceVersion != resourceVersion {
		t.Errorf("resource version %s returned, the pod has %s", resourceVersion, p.ResourceVersion)
	}
	return p
}

func check(t *testing.T, p *corev1.Pod, want podtest.Amounts, annotations ...string) {
	t.Helper()
	if diff := cmp.Diff(want.Requirements(), p.Spec.Containers[0].Resources, cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })); diff != "" {
		t.Errorf("resources: %s", diff)
	}
	wanted := map[string]string{}
	for i := 0; i < len(annotations); i += 2 {
		wanted[contract.Prefix+annotations[i]] = annotations[i+1]
	}
	got := maps.Clone(p.Annotations)
	if len(got) == 0 {
		got = map[string]string{}
	}
	// The record of the last resize stays when a pod is reverted, or resized by another actor.
	if record, ok := got[contract.AppliedSizes]; ok && wanted[contract.AppliedAt] != "" {
		if _, ok := pod.ParseAppliedSizes(record).Of("app", 0); !ok {
			t.Errorf("record %q", record)
		}
		delete(got, contract.AppliedSizes)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("annotations: %s", diff)
	}
}

var recordedOriginals = []string{
	"original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi",
}

func applied(nodeType string) []string {
	return slices.Concat(recordedOriginals, []string{"applied-instance-type", nodeType, "applied-at", "2026-11-21T01:02:03Z"})
}

func (s *apiServer) resizes(t *testing.T) {
	p := s.carryOut(t, s.pod(t, podtest.Guaranteed, func(p *corev1.Pod) {
		p.Annotations = map[string]string{}
	}), "n4")
	check(t, p, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")...)
	if got, want := p.Annotations[contract.AppliedSizes], "app 0 cpu 1/1>800m/800m memory 1Gi/1Gi"; got != want {
		t.Errorf("record %q, want %q", got, want)
	}
	if p.Status.QOSClass != corev1.PodQOSGuaranteed {
		t.Errorf("the QoS class is %s", p.Status.QOSClass)
	}
	for _, m := range p.ManagedFields {
		if strings.Contains(string(m.FieldsV1.GetRawBytes()), "original-cpu") && m.Manager != contract.FieldManager {
			t.Errorf("the field manager of our annotations is %s", m.Manager)
		}
	}
	if again := s.plan(t, p, "n4"); again.Pending() {
		t.Errorf("still pending: %+v", again)
	}
}

func (s *apiServer) keepsOriginals(t *testing.T) {
	p := s.carryOut(t, s.pod(t, podtest.Guaranteed), "n4")
	p = s.carryOut(t, p, "big")
	check(t, p, s.onBig(), applied("big")...)
	p = s.carryOut(t, p, "n2d")
	check(t, p, podtest.Guaranteed, applied("n2d")...)
}

// onBig returns the size of a Guaranteed pod of 1 cpu and 1Gi on big: before Kubernetes
// 1.34 its memory limit cannot shrink, and neither can its memory request.
func (s *apiServer) onBig() podtest.Amounts {
	if s.keepsMemoryLimits() {
		return podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}
	}
	return podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}
}

func (s *apiServer) keepsMemoryLimits() bool { return s.version.LessThan(plan.MemoryLimitsShrink) }

func (s *apiServer) records(t *testing.T) {
	before := s.pod(t, podtest.Guaranteed)
	p := s.carryOut(t, before, "n2d")
	check(t, p, podtest.Guaranteed, applied("n2d")...)
	if p.Generation != before.Generation {
		t.Error("the spec was written")
	}
}

func (s *apiServer) completesFailedPlans(t *testing.T) {
	planned, p := s.planOfUnsupported(t)
	if _, err := s.actuator.CarryOut(t.Context(), planned); err == nil {
		t.Fatal("resized on a node without support")
	}
	p = s.get(t, p)
	check(t, p, podtest.Guaranteed, recordedOriginals...)

	p.Status.ContainerStatuses[0].Resources = &p.Spec.Containers[0].Resources
	p = s.carryOut(t, s.status(t, p), "n4")
	check(t, p, podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, applied("n4")...)
}

// planOfUnsupported returns a plan from before it is known that the pod's node cannot
// resize.
func (s *apiServer) planOfUnsupported(t *testing.T) (*plan.Plan, *corev1.Pod) {
	t.Helper()
	p := s.pod(t, podtest.Guaranteed)
	planned := s.plan(t, p, "n4")
	p.Status.ContainerStatuses[0].Resources = nil
	p = s.status(t, p)
	planned.ResourceVersion = p.ResourceVersion
	return planned, p
}

func (s *apiServer) ignoresPodsOfTheSameName(t *testing.T) {
	old := s.pod(t, podtest.Guaranteed)
	zero := int64(0)
	if err := s.client.CoreV1().Pods(old.Namespace).Delete(t.Context(), old.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	namesake := s.podIn(t, old.Namespace, podtest.Guaranteed)
	for name, p := range map[string]*plan.Plan{
		"all writes of a resize":       s.plan(t, old, "n4"),
		"a record":                     s.plan(t, old, "n2d"),
		"a resize without originals":   s.plan(t, withAnnotations(old, recordedOriginals...), "n4"),
		"only the applied annotations": s.plan(t, withAnnotations(old, recordedOriginals...), "n2d"),
	} {
		if _, err := s.actuator.CarryOut(t.Context(), p); err == nil || !actuate.Outdated(err) {
			t.Errorf("%s: %v, want an outdated error", name, err)
		}
	}
	check(t, s.get(t, namesake), podtest.Guaranteed)
}

func withAnnotations(p *corev1.Pod, pairs ...string) *corev1.Pod {
	p = p.DeepCopy()
	podtest.Annotated(pairs...)(p)
	return p
}

func (s *apiServer) keepsLaterChanges(t *testing.T) {
	for name, recorded := range map[string][]string{"before the originals": nil, "before the resize": recordedOriginals} {
		t.Run(name, func(t *testing.T) {
			p := s.pod(t, podtest.Guaranteed, podtest.Annotated(recorded...))
			planned := s.plan(t, p, "n4")
			theirs := p.DeepCopy()
			theirs.Spec.Containers[0].Resources = podtest.Amounts{"900m", "900m", "1Gi", "1Gi"}.Requirements()
			if _, err := s.client.CoreV1().Pods(p.Namespace).UpdateResize(t.Context(), p.Name, theirs, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.actuator.CarryOut(t.Context(), planned); err == nil || !actuate.Outdated(err) {
				t.Errorf("got %v, want an outdated error", err)
			}
			check(t, s.get(t, p), podtest.Amounts{"900m", "900m", "1Gi", "1Gi"}, recorded...)
		})
	}
}

func (s *apiServer) reportsDeletedPodsAsOutdated(t *testing.T) {
	p := s.pod(t, podtest.Guaranteed)
	planned, recorded := s.plan(t, p, "n4"), s.plan(t, withAnnotations(p, recordedOriginals...), "n4")
	zero := int64(0)
	if err := s.client.CoreV1().Pods(p.Namespace).Delete(t.Context(), p.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
		t.Fatal(err)
	}
	for _, planned := range []*plan.Plan{planned, recorded} {
		_, err := s.actuator.CarryOut(t.Context(), planned)
		var refused *actuate.RefusedError
		if err == nil || !actuate.Outdated(err) || errors.As(err, &refused) {
			t.Errorf("got %v, want an outdated error", err)
		}
	}
}

func (s *apiServer) unsupported(t *testing.T) {
	p, _ := s.planOfUnsupported(t)
	_, err := s.actuator.CarryOut(t.Context(), p)
	var refused *actuate.RefusedError
	if !errors.As(err, &refused) || refused.Reason != contract.ResizeUnsupported || !strings.Contains(err.Error(), "Pod running on node without support for resize") {
		t.Errorf("got %v", err)
	}
}

func (s *apiServer) refused(t *testing.T) {
	t.Run("NodeCapacity beyond the node's capacity", func(t *testing.T) {
		_, err := s.actuator.CarryOut(t.Context(), s.plan(t, s.pod(t, podtest.Amounts{"7", "", "", ""}), "slow"))
		if s.version.LessThan(version.MustParseGeneric("1.36")) {
			// Earlier API servers leave this check to the kubelet, and so to our own check.
			if err != nil {
				t.Errorf("refused: %v", err)
			}
			return
		}
		var refused *actuate.RefusedError
		if !errors.As(err, &refused) || refused.Reason != contract.NodeCapacity || !strings.HasPrefix(err.Error(), "resize: ") {
			t.Errorf("got %v, want a refusal because of the node's capacity", err)
		}
	})
	t.Run("QuotaExceeded beyond the quota", func(t *testing.T) {
		ns := s.namespace(t)
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "cpu"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.cpu": resource.MustParse("1100m")}}}
		if _, err := s.client.CoreV1().ResourceQuotas(ns).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		localcluster.Eventually(t, "the quota's controller", func() error {
			q, err := s.client.CoreV1().ResourceQuotas(ns).Get(t.Context(), "cpu", metav1.GetOptions{})
			if err == nil && q.Status.Hard["requests.cpu"] != quota.Spec.Hard["requests.cpu"] {
				err = fmt.Errorf("hard is %v", q.Status.Hard)
			}
			return err
		})
		// Create the pod only now. A new pod counts when it is admitted. An existing pod
		// that the controller misses in its first count is counted only minutes later.
		p := s.podIn(t, ns, podtest.Amounts{"1", "", "", ""})
		_, err := s.actuator.CarryOut(t.Context(), s.plan(t, p, "slow"))
		var refused *actuate.RefusedError
		if !errors.As(err, &refused) || refused.Reason != contract.QuotaExceeded {
			t.Errorf("got %v, want a refusal because of the quota", err)
		}
	})
}
