package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// snapshotOf returns a snapshot of a pod on a node, without any veto.
func snapshotOf(t testing.TB, p *corev1.Pod, n *corev1.Node) *Snapshot {
	t.Helper()
	return &Snapshot{Pod: pod.From(p), Table: podtest.Table(t), Around: safety.Surroundings{Room: node.Room{Node: n}}}
}

func restarts(resources ...corev1.ResourceName) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for _, name := range resources {
			p.Spec.Containers[0].ResizePolicy = append(p.Spec.Containers[0].ResizePolicy,
				corev1.ContainerResizePolicy{ResourceName: name, RestartPolicy: corev1.RestartContainer})
		}
	}
}

func TestPlan(t *testing.T) {
	guaranteed := podtest.Amounts{"1", "1", "1Gi", "1Gi"}
	for _, tc := range []struct {
		name     string
		pod      *corev1.Pod
		nodeType string
		planner  Planner
		decision Decision
		reasons  []contract.Reason
		desired  podtest.Amounts
	}{
		{name: "Guaranteed on a faster node", pod: podtest.Pod(guaranteed), nodeType: "n4",
			decision: Resize, desired: podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}},
		{name: "Burstable on a faster node", pod: podtest.Pod(podtest.Amounts{"500m", "2", "256Mi", "512Mi"}), nodeType: "n4",
			decision: Resize, desired: podtest.Amounts{"400m", "1600m", "256Mi", "512Mi"}},
		{name: "requests without limits", pod: podtest.Pod(podtest.Amounts{"500m", "", "", ""}), nodeType: "n4",
			decision: Resize, desired: podtest.Amounts{"400m", "", "", ""}},
		{name: "memory by its own factor", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", "2Gi"}), nodeType: "big",
			decision: Resize, desired: podtest.Amounts{"500m", "", "512Mi", "1Gi"}},
		{name: "baseline node", pod: podtest.Pod(guaranteed), nodeType: "n2d",
			decision: Align, reasons: []contract.Reason{contract.AlreadyAligned}, desired: guaranteed},
		{name: "a bound determines the request", pod: podtest.Pod(podtest.Amounts{"60m", "120m", "", ""}), nodeType: "big",
			decision: Resize, reasons: []contract.Reason{contract.BoundsClamped}, desired: podtest.Amounts{"50m", "60m", "", ""}},
		{name: "a bound prevents any change", pod: podtest.Pod(podtest.Amounts{"50m", "", "64Mi", ""}), nodeType: "big",
			decision: Align, reasons: []contract.Reason{contract.AlreadyAligned, contract.BoundsClamped}, desired: podtest.Amounts{"50m", "", "64Mi", ""}},
		{name: "sized before for the same type", nodeType: "n4",
			pod: podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi",
				"applied-instance-type", "n4")),
			decision: Align, reasons: []contract.Reason{contract.AlreadyAligned}, desired: podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}},
		{name: "sized before for another type", nodeType: "big",
			pod: podtest.Pod(podtest.Amounts{"800m", "1600m", "1Gi", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "1Gi",
				"applied-instance-type", "n4")),
			decision: Resize, desired: podtest.Amounts{"500m", "1", "512Mi", ""}},
		{name: "sized by the published controller, which records no limits", nodeType: "big",
			pod: podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.AsPublished, podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi",
				"applied-instance-type", "n4")),
			decision: Resize, desired: podtest.Amounts{"500m", "500m", "512Mi", "512Mi"}},
		{name: "a limit that a resize added is not scaled", nodeType: "big",
			pod:      podtest.Pod(podtest.Amounts{"800m", "2", "", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "applied-instance-type", "n4")),
			decision: Resize, desired: podtest.Amounts{"500m", "2", "", ""}},
		{name: "a limit that a resize added stays above the request", nodeType: "n2d",
			pod:      podtest.Pod(podtest.Amounts{"500m", "600m", "", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "applied-instance-type", "big")),
			decision: Resize, desired: podtest.Amounts{"1", "1001m", "", ""}},
		{name: "a request that a resize added stays", nodeType: "big",
			pod:      podtest.Pod(podtest.Amounts{"100m", "", "1Gi", ""}, podtest.AsResized, podtest.Annotated("original-memory.app", "1Gi", "applied-instance-type", "n4")),
			decision: Resize, reasons: []contract.Reason{contract.InvalidAnnotation}, desired: podtest.Amounts{"100m", "", "512Mi", ""}},
		{name: "annotations of amounts that the container lacks", nodeType: "n4",
			pod:      podtest.Pod(podtest.Amounts{"1", "", "", ""}, podtest.Annotated("original-memory.app", "8Gi", "original-cpu-limit.app", "64", "original-cpu.other", "x")),
			decision: Resize, desired: podtest.Amounts{"800m", "", "", ""}},
		{name: "a cpu resize that would restart the container", pod: podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, restarts(corev1.ResourceCPU)), nodeType: "big",
			decision: Resize, reasons: []contract.Reason{contract.RestartRequired}, desired: podtest.Amounts{"1", "1", "512Mi", "512Mi"}},
		{name: "a memory resize that would restart the container", pod: podtest.Pod(guaranteed, restarts(corev1.ResourceMemory)), nodeType: "big",
			decision: Resize, reasons: []contract.Reason{contract.RestartRequired}, desired: podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}},
		{name: "a restart policy of an unchanged resource", pod: podtest.Pod(guaranteed, restarts(corev1.ResourceMemory)), nodeType: "n4",
			decision: Resize, desired: podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}},
		{name: "a partly withheld resize is not alignment", nodeType: "big",
			pod:      podtest.Pod(podtest.Amounts{"500m", "", "1Gi", ""}, restarts(corev1.ResourceMemory), podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi")),
			decision: Align, reasons: []contract.Reason{contract.RestartRequired}, desired: podtest.Amounts{"500m", "", "1Gi", ""}},
		{name: "a bound that keeps memory unchanged needs no restart", pod: podtest.Pod(podtest.Amounts{"1", "", "64Mi", ""}, restarts(corev1.ResourceMemory)), nodeType: "big",
			decision: Resize, desired: podtest.Amounts{"500m", "", "64Mi", ""}, reasons: []contract.Reason{contract.BoundsClamped}},
		{name: "memory limits that must not shrink stay", pod: podtest.Pod(podtest.Amounts{"1", "", "1Gi", "2Gi"}), nodeType: "big", planner: Planner{KeepMemoryLimits: true},
			decision: Resize, reasons: []contract.Reason{contract.MemoryLimitKept}, desired: podtest.Amounts{"500m", "", "512Mi", "2Gi"}},
		{name: "all memory stays if a kept limit would change the class", pod: podtest.Pod(guaranteed), nodeType: "big", planner: Planner{KeepMemoryLimits: true},
			decision: Resize, reasons: []contract.Reason{contract.MemoryLimitKept}, desired: podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}},
		{name: "rounding that would make the pod Guaranteed", pod: podtest.Pod(podtest.Amounts{"100m", "101m", "64Mi", "64Mi"}), nodeType: "n4",
			decision: Resize, desired: podtest.Amounts{"80m", "81m", "64Mi", "64Mi"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.planner.OwnerKinds = DefaultOwnerKinds
			p := tc.planner.Plan(snapshotOf(t, tc.pod, podtest.Node(tc.nodeType)))
			if p.Decision != tc.decision {
				t.Errorf("decision %v, want %v", p.Decision, tc.decision)
			}
			if got := codes(p); !cmp.Equal(got, tc.reasons) {
				t.Errorf("reasons %v, want %v", p.Reasons, tc.reasons)
			}
			if want := tc.desired.Container(); p.Containers[0].Desired != want {
				t.Errorf("desired %v, want %v", p.Containers[0].Desired, want)
			}
			if p.NodeType != tc.nodeType || p.NodeTypeLabel != nodetype.LabelGCPMachineFamily || p.Baseline != "n2d" || p.Revision == "" || p.CPUFactor.Den == 0 {
				t.Errorf("plan %+v", p)
			}
		})
	}
}

// modeled returns a node of a type with a known CPU model.
func modeled(nodeType string) *corev1.Node {
	n := podtest.Node(nodeType)
	n.Labels[nodetype.LabelOwnCPUModel] = "Intel-6-79"
	return n
}

func TestPlanner(t *testing.T) {
	t.Run("names the labels that determine the node type", namesTheLabelsThatDetermineTheNodeType)
	t.Run("plans several containers with an init container", plansSeveralContainersWithAnInitContainer)
	t.Run("determines what remains to be written", determinesWhatRemainsToBeWritten)
	t.Run("limits the length of a reason", limitsTheLengthOfAReason)
	t.Run("the trait Stays agrees with the stages", theTraitStaysAgreesWithTheStages)
}

func namesTheLabelsThatDetermineTheNodeType(t *testing.T) {
	own := nodetype.LabelOwnCPUModel
	for _, tc := range []struct {
		name      string
		nodeTypes nodetype.Resolver
		node      *corev1.Node
		want      nodetype.Match
	}{
		{"a type with a ratio for its CPU model", nodetype.New(""), modeled("n4"), nodetype.Match{NodeType: "n4@Intel-6-79", Label: nodetype.LabelGCPMachineFamily + "," + own}},
		{"a configured label with a ratio for its CPU model", nodetype.New(nodetype.LabelGCPMachineFamily), modeled("n4"), nodetype.Match{NodeType: "n4@Intel-6-79", Label: nodetype.LabelGCPMachineFamily + "," + own}},
		{"a type without a ratio for its CPU model", nodetype.New(""), modeled("n2d"), nodetype.Match{NodeType: "n2d", Label: nodetype.LabelGCPMachineFamily}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			one := ratios.Ratio{CPUPerf: 1, MemoryPerf: 1}
			table, err := ratios.Merge([]*ratios.Layer{{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": one, "n4": one, "n4@Intel-6-79": {CPUPerf: 2, MemoryPerf: 1}}}})
			if err != nil {
				t.Fatal(err)
			}
			s := snapshotOf(t, podtest.Pod(podtest.Guaranteed), tc.node)
			s.Table = table
			p := (&Planner{OwnerKinds: DefaultOwnerKinds, NodeTypes: tc.nodeTypes}).Plan(s)
			if got := (nodetype.Match{NodeType: p.NodeType, Label: p.NodeTypeLabel}); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
	unlabelled := snapshotOf(t, podtest.Pod(podtest.Guaranteed), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{own: "Intel-6-79"}}})
	p := (&Planner{OwnerKinds: DefaultOwnerKinds, NodeTypes: nodetype.New("pool")}).Plan(unlabelled)
	if len(p.Reasons) != 1 || p.Reasons[0].Code != contract.NodeTypeUnlabelled || p.Reasons[0].Message != "node node does not have the label pool" {
		t.Errorf("only a CPU model, with a configured label: %+v", p.Reasons)
	}
}

func codes(p *Plan) []contract.Reason {
	var codes []contract.Reason
	for _, r := range p.Reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

func TestPlanSkips(t *testing.T) {
	plain := podtest.Amounts{"1", "", "", ""}
	for _, tc := range []struct {
		name    string
		pod     *corev1.Pod
		node    *corev1.Node
		reason  contract.Reason
		message string
	}{
		{"a pod without a controller", podtest.Pod(plain, func(p *corev1.Pod) { p.OwnerReferences = nil }), podtest.Node("n4"), contract.NotOwned, "no controller"},
		{"an unknown node", podtest.Pod(plain), nil, contract.NodeNotFound, "node node is not known"},
		{"a node without a label", podtest.Pod(plain), &corev1.Node{}, contract.NodeTypeUnlabelled, "none of the labels cloud.google.com/machine-family, "},
		{"a node whose CPU model has no ratio", podtest.Pod(plain), modeled("c3"), contract.UnknownNodeType, `type "c3" (label cloud.google.com/machine-family)`},
		{"a node type without a ratio", podtest.Pod(plain), podtest.Node("c3"), contract.UnknownNodeType, `type "c3" (label cloud.google.com/machine-family)`},
		{"a node type whose ratio is implausible", podtest.Pod(plain), podtest.Node("typo"), contract.ImplausibleRatio, "typo would be 125 times as fast as n2d for cpu, beyond maxSpeedRatio 5: "},
		{"a pod that was resized before the ratio became implausible", podtest.Pod(plain, podtest.AsResized, podtest.Annotated("original-cpu.app", "2", "applied-instance-type", "typo")), podtest.Node("typo"), contract.ImplausibleRatio, "typo would be"},
		{"an original that is not a quantity", podtest.Pod(plain, podtest.Annotated("original-cpu.app", "much")), podtest.Node("n4"), contract.InvalidAnnotation, `original-cpu.app: "much" is not a quantity`},
		{"an original of 0", podtest.Pod(plain, podtest.Annotated("original-cpu.app", "0")), podtest.Node("n4"), contract.InvalidAnnotation, `"0" is not greater than 0`},
		{"a negative original", podtest.Pod(plain, podtest.Annotated("original-cpu.app", "-1")), podtest.Node("n4"), contract.InvalidAnnotation, `"-1" is negative`},
		{"an original limit below its request", podtest.Pod(podtest.Amounts{"1", "2", "", ""}, podtest.AsResized, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "500m")), podtest.Node("n4"), contract.InvalidAnnotation, "limit 500m is below the request 1"},
		{"an original that is missing after a resize", podtest.Pod(plain, podtest.Annotated("applied-instance-type", "n4")), podtest.Node("n4"), contract.InvalidAnnotation, "original-cpu.app is missing although"},
		{"an original larger than any machine", podtest.Pod(plain, podtest.Annotated("original-cpu.app", "18446744073709552")), podtest.Node("n4"), contract.InvalidAnnotation, "is more than any machine has"},
		{"our own resize whose originals were removed", podtest.Pod(plain, func(p *corev1.Pod) {
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}, {Manager: contract.FieldManager, Subresource: "resize"}}
		}), podtest.Node("n4"), contract.InvalidAnnotation, "original-cpu.app is missing although"},
		{"a resize that would only restart", podtest.Pod(plain, restarts(corev1.ResourceCPU)), podtest.Node("n4"), contract.RestartRequired, "cpu stays because its resizePolicy is RestartContainer"},
		{"a change to the QoS class", podtest.Pod(podtest.Amounts{"1", "2", "1Gi", "1Gi"}, podtest.AsResized, podtest.Annotated("original-cpu.app", "2", "original-cpu-limit.app", "2", "original-memory.app", "1Gi")), podtest.Node("n4"), contract.QOSClassChange, "Burstable and would become Guaranteed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			p := planner.Plan(snapshotOf(t, tc.pod, tc.node))
			if p.Decision != Skip || len(p.Reasons) != 1 || p.Reasons[0].Code != tc.reason || !strings.Contains(p.Reasons[0].Message, tc.message) {
				t.Fatalf("%v because of %v, want a skip because of %s: %s", p.Decision, p.Reasons, tc.reason, tc.message)
			}
			if c := p.Containers[0]; c.Desired != c.Current || p.Pending() {
				t.Errorf("skipped, but %+v has pending writes", c)
			}
		})
	}
}

func plansSeveralContainersWithAnInitContainer(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "proxy", Resources: podtest.Amounts{"100m", "100m", "64Mi", "64Mi"}.Requirements()})
		p.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: podtest.Amounts{"2", "2", "1Gi", "1Gi"}.Requirements()}}
	})
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	plan := planner.Plan(snapshotOf(t, p, podtest.Node("n4")))
	if plan.Decision != Resize || plan.QOSClass != corev1.PodQOSGuaranteed {
		t.Fatalf("%v of a %s pod: %v", plan.Decision, plan.QOSClass, plan.Reasons)
	}
	want := `{"metadata":{"uid":"uid","resourceVersion":"7"},"spec":{"containers":[` +
		`{"name":"app","resources":{"requests":{"cpu":"800m"},"limits":{"cpu":"800m"}}},` +
		`{"name":"proxy","resources":{"requests":{"cpu":"80m"},"limits":{"cpu":"80m"}}}]}}`
	if got := string(plan.Patch(resizing(plan), plan.ResourceVersion)); got != want {
		t.Errorf("patch\n%s\nwant\n%s", got, want)
	}
	wantText := "app: cpu 1 → 800m, memory 1Gi; proxy: cpu 100m → 80m, memory 64Mi"
	if got := plan.Describe(); got != wantText {
		t.Errorf("described as %q, want %q", got, wantText)
	}
}

func texts(annotations map[string]*string) map[string]string {
	var all map[string]string
	for key, text := range annotations {
		if all == nil {
			all = map[string]string{}
		}
		all[key] = *text
	}
	return all
}

func determinesWhatRemainsToBeWritten(t *testing.T) {
	originals := []string{"original-cpu.app", "1", "original-cpu-limit.app", "2"}
	with := func(more ...string) func(*corev1.Pod) {
		return podtest.Annotated(append(originals[:len(originals):len(originals)], more...)...)
	}
	for _, tc := range []struct {
		name        string
		pod         *corev1.Pod
		pending     bool
		resized     bool
		unannotated map[string]string
	}{
		{"untouched", podtest.Pod(podtest.Amounts{"1", "2", "", ""}), true, true,
			map[string]string{"workload-resizer.io/original-cpu.app": "1", "workload-resizer.io/original-cpu-limit.app": "2"}},
		{"stopped after the originals", podtest.Pod(podtest.Amounts{"1", "2", "", ""}, with()), true, true, nil},
		{"stopped after the resize", podtest.Pod(podtest.Amounts{"800m", "1600m", "", ""}, with(), podtest.AsResized), true, true, nil},
		{"done", podtest.Pod(podtest.Amounts{"800m", "1600m", "", ""}, with("applied-instance-type", "n4"), podtest.AsResized), false, true, nil},
		{"done by the published controller, which records no limits", podtest.Pod(podtest.Amounts{"800m", "800m", "", ""}, podtest.Annotated("original-cpu.app", "1", "applied-instance-type", "n4"), podtest.AsPublished), false, true, nil},
		{"a limit that was added after the originals", podtest.Pod(podtest.Amounts{"1", "2", "", ""}, podtest.Annotated("original-cpu.app", "1")), true, true,
			map[string]string{"workload-resizer.io/original-cpu-limit.app": "2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			p := planner.Plan(snapshotOf(t, tc.pod, podtest.Node("n4")))
			if p.Pending() != tc.pending || p.resized() != tc.resized || !cmp.Equal(texts(recorded(p, podtest.Start)), tc.unannotated) {
				t.Errorf("pending %v, resized %v, unannotated %v; want %v, %v, %v", p.Pending(), p.resized(), texts(recorded(p, podtest.Start)), tc.pending, tc.resized, tc.unannotated)
			}
		})
	}
}

func BenchmarkPlan(b *testing.B) {
	proxy := func(sizes podtest.Amounts) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "proxy", Resources: sizes.Requirements()})
			p.Status.QOSClass = corev1.PodQOSBurstable
		}
	}
	resized := podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app", "proxy"), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.AppliedSizes, contract.OriginalPrefix+"cpu.app"))
	sized := podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi",
		"original-cpu.proxy", "100m", "original-cpu-limit.proxy", "200m", "original-memory.proxy", "64Mi", "applied-instance-type", "n4", "applied-at", podtest.At(11).Format(time.RFC3339),
		"applied-sizes", "app 0 cpu 1/1>800m/800m memory 1Gi/1Gi; proxy 0 cpu 100m/200m>80m/160m memory 64Mi")
	for _, bc := range []struct {
		name     string
		pod      *corev1.Pod
		nodeType string
		decision Decision
		seconds  int
	}{
		{"new", podtest.Pod(podtest.Guaranteed, proxy(podtest.Amounts{"100m", "200m", "64Mi", ""}), podtest.AsCreated), "n4", Resize, 1000},
		{"aligned", podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, proxy(podtest.Amounts{"80m", "160m", "64Mi", ""}), sized, resized), "n4", Align, 1000},
		{"observed", podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, proxy(podtest.Amounts{"80m", "160m", "64Mi", ""}), sized, resized), "n4", Align, 20},
		{"realigned", podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, proxy(podtest.Amounts{"80m", "160m", "64Mi", ""}), sized, resized), "slow", Resize, 1000},
		{"skipped", podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) { p.OwnerReferences = nil }), "n4", Skip, 1000},
	} {
		b.Run(bc.name, func(b *testing.B) {
			n := podtest.Node(bc.nodeType)
			n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("32Gi")}
			s := snapshotOf(b, bc.pod, n)
			s.Now = podtest.At(bc.seconds)
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			if plan := planner.Plan(s); plan.Decision != bc.decision {
				b.Fatalf("%v: %v", plan.Decision, plan.Reasons)
			}
			b.ReportAllocs()
			for b.Loop() {
				planner.Plan(s)
			}
		})
	}
}

// Reasons appear in events, logs and responses, and a pod may have very many containers.
func limitsTheLengthOfAReason(t *testing.T) {
	p := podtest.Pod(podtest.Burstable, podtest.Annotated("applied-instance-type", "n4"))
	one := p.Spec.Containers[0]
	p.Spec.Containers = nil
	for i := range 500 {
		one.Name = fmt.Sprint("container-", i)
		p.Spec.Containers = append(p.Spec.Containers, one)
	}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	plan := planner.Plan(snapshotOf(t, p, podtest.Node("n4")))
	reason := plan.Reasons[0]
	if reason.Code != contract.InvalidAnnotation || len(reason.Message) > mostOfAReason+len(andMore) {
		t.Errorf("%s has %d bytes", reason.Code, len(reason.Message))
	}
	if !strings.Contains(reason.Message, "container-0:") || strings.Count(reason.Message, andMore) != 1 || !strings.HasSuffix(reason.Message, andMore) {
		t.Errorf("the message is %s", reason.Message)
	}
}

func TestFractions(t *testing.T) {
	const bytes = "1181116007"
	recorded := podtest.Annotated("original-cpu.app", "1", "original-memory.app", bytes, "original-memory-limit.app", bytes, "applied-instance-type", "n4")
	for name, of := range map[string]struct {
		pod     *corev1.Pod
		restore bool
		want    resourcesPatch
	}{
		"a change to cpu sets memory in whole bytes": {
			pod:  podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", "1.1Gi"}, asMadeWith),
			want: resourcesPatch{amountsPatch{"800m", bytes}, amountsPatch{"", bytes}},
		},
		"only what has a fraction": {
			pod:  podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", "2Gi"}, asMadeWith),
			want: resourcesPatch{amountsPatch{"800m", bytes}, amountsPatch{}},
		},
		"a restore sets it, too": {
			pod:     podtest.Pod(podtest.Amounts{"800m", "", "1.1Gi", "1.1Gi"}, podtest.AsResized, recorded),
			restore: true,
			want:    resourcesPatch{amountsPatch{"1", bytes}, amountsPatch{"", bytes}},
		},
		"not if another actor set it": {
			pod: podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", "1.1Gi"}, asMadeWith, func(p *corev1.Pod) {
				p.ManagedFields = append(p.ManagedFields, podtest.ResizeBy("kubectl", 9, contract.MemoryRequest, contract.MemoryLimit))
			}),
			want: resourcesPatch{amountsPatch{"800m", ""}, amountsPatch{}},
		},
	} {
		s := snapshotOf(t, of.pod, podtest.Node("n4"))
		s.Restore = of.restore
		p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
		var got podPatch
		if err := json.Unmarshal(p.Patch(resizing(p), ""), &got); err != nil {
			t.Fatal(err)
		}
		if got.Spec == nil || len(got.Spec.Containers) != 1 || got.Spec.Containers[0].Resources != of.want {
			t.Errorf("%s: %v because of %v patches %+v, want %+v", name, p.Decision, p.Reasons, got.Spec, of.want)
		}
	}
	aligned := podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", "1.1Gi"}, asMadeWith)
	if p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, aligned, podtest.Node("n2d"))); p.Decision != Align {
		t.Errorf("a pod that needs no resize: %v because of %v", p.Decision, p.Reasons)
	}
}

func TestReasons(t *testing.T) {
	t.Run("keeps the reasons of a thousand containers short", keepsTheReasonsOfAThousandContainersShort)
	t.Run("adds nothing after and more", addsNothingAfterAndMore)
	t.Run("truncates a long message", truncatesALongMessage)
}

func keepsTheReasonsOfAThousandContainersShort(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "", "512Mi", ""}, podtest.Annotated("applied-instance-type", "n4"))
	one, names := p.Spec.Containers[0], []string(nil)
	p.Spec.Containers = nil
	for i := range 1000 {
		one.Name = fmt.Sprintf("container-with-quite-a-long-name-%d", i)
		names = append(names, one.Name)
		p.Spec.Containers = append(p.Spec.Containers, one)
		podtest.Annotated("original-cpu."+one.Name, "1", "original-memory."+one.Name, "1Gi")(p)
	}
	podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, names...))(p)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, roomFor("n4", "2000", "800Mi")))
	if plan.Partial == "" {
		t.Fatalf("the plan is not partial: %s", plan.Decision)
	}
	for _, r := range append(plan.Reasons, plan.Outcome()...) {
		// An outcome describes what changes and what does not.
		if len(r.Message) > 3*mostOfAReason {
			t.Errorf("%s has %d bytes", r.Code, len(r.Message))
		}
	}
}

func addsNothingAfterAndMore(t *testing.T) {
	p := &Plan{}
	for _, message := range []string{strings.Repeat("x", 4000), strings.Repeat("y", 200), "short", strings.Repeat("y", 200)} {
		p.because(contract.InvalidAnnotation, message)
	}
	if message := p.Reasons[0].Message; len(p.Reasons) != 1 || message != strings.Repeat("x", 4000)+andMore {
		t.Errorf("the message ends with %q", message[3990:])
	}
}

func truncatesALongMessage(t *testing.T) {
	p := &Plan{}
	p.because(contract.ResizeDeferred, strings.Repeat("ü", mostOfAReason))
	if message := p.Reasons[0].Message; message != strings.Repeat("ü", mostOfAReason/2)+andMore {
		t.Errorf("%d bytes, ending with %q", len(message), message[len(message)-20:])
	}
}

func TestSettled(t *testing.T) {
	t.Run("describes what happens to sizes of other actors", describesWhatHappensToSizesOfOtherActors)
}

// Another actor set the cpu of a pod that we had sized.
func describesWhatHappensToSizesOfOtherActors(t *testing.T) {
	for external, want := range map[External]string{
		OverrideExternal: "container app: cpu 1200m/1600m, set by they, is overridden with 800m/1600m",
		AdoptExternal:    "container app: cpu 1200m/1600m, set by they, is adopted (new original: 1500m/2)",
	} {
		p := podtest.Pod(podtest.Amounts{"1200m", "1600m", "1Gi", ""}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(contract.FieldManager, 10, contract.CPULimit),
			podtest.ResizeBy("they", 20, contract.CPURequest), podtest.Managed(contract.FieldManager, "", 11, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"cpu-limit.app")),
			podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2"))
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(snapshotOf(t, p, podtest.Node("n4")))
		if said := plan.Outcome(); len(said) == 0 || !strings.HasSuffix(said[0].Message, want) {
			t.Errorf("%v: outcome %v, want %q", external, said, want)
		}
	}
}

// A plan that is turned into one that skips the pod changes nothing, so nothing has a cause.
func TestSkipped(t *testing.T) {
	p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}), podtest.Node("n4")))
	if p.Containers[0].Causes[sizing.CPU.Index] != ByRatio {
		t.Fatalf("causes %v", p.Containers[0].Causes)
	}
	skipped := p.Skipped(Reason{contract.ResizeFailed, "denied"})
	if c := skipped.Containers[0]; c.Desired != c.Current || c.Causes != [2]Cause{} || skipped.Pending() || len(skipped.Actions()) > 0 || !p.Pending() {
		t.Errorf("%v → %v because of %v", c.Current, c.Desired, c.Causes)
	}
}

// Reasons of a restore are sorted in the end, when they may have their maximum length already.
func TestReasonsAreCutOnce(t *testing.T) {
	for length := 1; length < 60; length++ {
		var d draft
		d.Plan = &Plan{}
		for i := range 90 {
			d.because(contract.RestartRequired, fmt.Sprintf("container c%02d%s: cpu stays", i, strings.Repeat("x", length)))
		}
		before := d.Reasons[0]
		v := verdict{alone: true, reasons: []Reason{before}}
		if d.apply("restore", &v); d.Reasons[0] != before {
			t.Errorf("%d bytes: the reason ends with %q, before with %q", length, d.Reasons[0].Message[len(d.Reasons[0].Message)-40:], before.Message[len(before.Message)-40:])
		}
	}
}

// A message of another program, such as a policy, may have any length.
func TestReasonsAreBounded(t *testing.T) {
	long := Reason{contract.Reverted, strings.Repeat("a long message ", 1000)}
	p := &Plan{Reasons: []Reason{{contract.NodeCapacity, "no room"}}}
	d := draft{Plan: p}
	d.apply("revert", &verdict{alone: true, reasons: []Reason{long, long}})
	for _, r := range append(p.Reasons, p.Skipped(long).Reasons...) {
		if most := mostOfAReason + len(andMore); len(r.Message) > most {
			t.Errorf("%d bytes, more than %d", len(r.Message), most)
		}
	}
}

// The trait Stays must agree with the table of stages. After the sizes of a pod were computed, the reasons of
// stages leave resources as they are. Only reasons that inform, or that concern the pod as a whole, do not.
func theTraitStaysAgreesWithTheStages(t *testing.T) {
	informs := []contract.Reason{contract.AlreadyAligned, contract.BoundsClamped, contract.DemandExceedsNodes, contract.NotMeasured, contract.HPAUtilization, contract.StartupBoost, contract.ResizeUnsupported}
	sizing, _ := Checks()
	computed := slices.IndexFunc(sizing, func(c Check) bool { return c.Stage == stageKeep })
	stays := map[contract.Reason]bool{}
	for _, stage := range sizing[computed:] {
		for _, reason := range stage.Reasons {
			stays[reason] = !slices.Contains(informs, reason)
		}
	}
	for _, info := range contract.Reasons() {
		if info.Stays != stays[info.Reason] {
			t.Errorf("%s: Stays is %v, want %v", info.Reason, info.Stays, stays[info.Reason])
		}
	}
}

func TestStops(t *testing.T) {
	stop := &Stop{Scope: "namespace shop", Since: podtest.At(10)}
	signed := &Stop{Scope: "Deployment shop/web", Since: podtest.At(10), Author: "ann", Reason: "moving"}
	for _, tc := range []struct{ got, want string }{
		{(*Stop)(nil).frozen(), ""},
		{(*Stop)(nil).paused(), ""},
		{stop.frozen(), "the cluster was frozen at 2026-11-21T00:00:10Z: no reason given"},
		{signed.frozen(), "the cluster was frozen at 2026-11-21T00:00:10Z by ann: moving"},
		{stop.paused(), "the pause of namespace shop began at 2026-11-21T00:00:10Z: no reason given"},
		{signed.degraded(), "the breaker of Deployment shop/web opened at 2026-11-21T00:00:10Z: moving"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

// An invalid rank prevents evictions, and nothing else. Only plans of pods that may be evicted say so.
func TestInvalidRanks(t *testing.T) {
	for _, tc := range []struct {
		name, rank, nodeType string
		enabled              bool
		decision             Decision
		reasons              []contract.Reason
	}{
		{"a valid rank", "low", "n2d", true, Align, []contract.Reason{contract.AlreadyAligned}},
		{"an invalid rank", "Low", "n2d", true, Align, []contract.Reason{contract.AlreadyAligned, contract.AnnotationIgnored}},
		{"an empty rank of a pod to resize", "", "n4", true, Resize, []contract.Reason{contract.AnnotationIgnored}},
		{"an invalid rank while nothing is evicted", "Low", "n2d", false, Align, []contract.Reason{contract.AlreadyAligned}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshotOf(t, podtest.Pod(podtest.Guaranteed, podtest.Annotated("eviction-rank", tc.rank)), podtest.Node(tc.nodeType))
			var err error
			if s.Table, err = ratios.Merge([]*ratios.Layer{{
				Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
				Settings: keys.Some(policy.Settings{Eviction: policy.Eviction{Enabled: tc.enabled}}),
			}}); err != nil {
				t.Fatal(err)
			}
			p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			var got []contract.Reason
			for _, r := range p.Reasons {
				if got = append(got, r.Code); r.Code == contract.AnnotationIgnored && !strings.Contains(r.Message, fmt.Sprintf("eviction-rank must be one of low, medium, high, never, not %q", tc.rank)) {
					t.Errorf("it says %q", r.Message)
				}
			}
			if p.Decision != tc.decision || !slices.Equal(got, tc.reasons) {
				t.Errorf("%s because of %v, want %s because of %v", p.Decision, p.Reasons, tc.decision, tc.reasons)
			}
		})
	}
}
