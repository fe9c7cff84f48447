package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// scaler returns a HorizontalPodAutoscaler with these metrics.
func scaler(name string, metrics ...autoscalingv2.MetricSpec) *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{Metrics: metrics}}
}

// percent is a target of 80% of requests, and average one of an amount for each pod.
func percent() autoscalingv2.MetricTarget {
	return autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))}
}

func average() autoscalingv2.MetricTarget {
	return autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse("500m"))}
}

// metricOf is a metric of a resource of all containers, and metricIn is one of a single container.
func metricOf(name corev1.ResourceName, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: name, Target: target}}
}

func metricIn(container string, name corev1.ResourceName, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Container: container, Name: name, Target: target}}
}

// scaledBy sets the HorizontalPodAutoscalers of the pod's workload.
func scaledBy(scalers ...*autoscalingv2.HorizontalPodAutoscaler) func(*Snapshot) {
	return func(s *Snapshot) {
		s.Autoscalers = func() []*autoscalingv2.HorizontalPodAutoscaler { return scalers }
	}
}

// ofAutoscalers returns what a plan says about HorizontalPodAutoscalers; empty for nothing.
func ofAutoscalers(p *Plan) string {
	for _, reason := range p.Reasons {
		if reason.Code == contract.HPAUtilization {
			return reason.Message
		}
	}
	return ""
}

func TestAutoscalers(t *testing.T) {
	web := scaler("web", metricOf(corev1.ResourceCPU, percent()))
	sized := podtest.Pod(podtest.Amounts{"800m", "1600m", "", ""}, podtest.AsResized,
		podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "applied-instance-type", "n4"))
	const target = "HorizontalPodAutoscaler web targets 80% of cpu requests: "
	for _, tc := range []struct {
		name, nodeType string
		pod            *corev1.Pod
		decision       Decision
		want           string
		asked          bool
	}{
		{"compares with the current size before a resize", "n4", podtest.Pod(podtest.Amounts{"1", "2", "", ""}), Resize, target + "after this resize, the utilization for the same load is 1.25 times as high", true},
		{"compares with the originals once the pod is aligned", "n4", sized, Align, target + "compared with the original requests, the utilization for the same load is 1.25 times as high", true},
		{"does not look for autoscalers of a pod with its originals", "n2d", podtest.Pod(podtest.Amounts{"1", "2", "", ""}), Align, "", false},
		{"does not look for autoscalers of a pod that is skipped", "unknown", sized, Skip, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshotOf(t, tc.pod, podtest.Node(tc.nodeType))
			asked := false
			s.Autoscalers = func() []*autoscalingv2.HorizontalPodAutoscaler {
				asked = true
				return []*autoscalingv2.HorizontalPodAutoscaler{web}
			}
			plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			if plan.Decision == Align && plan.Reasons[0].Code == contract.HPAUtilization {
				t.Error("it is the first reason, which must say why the pod is aligned")
			}
			got := ofAutoscalers(plan)
			if plan.Decision != tc.decision || got != tc.want || asked != tc.asked {
				t.Errorf("%s, asked %t: %q\nwant %s, %t: %q", plan.Decision, asked, got, tc.decision, tc.asked, tc.want)
			}
		})
	}
}

func TestAutoscalersAndUsage(t *testing.T) {
	const hours = 3600
	const why = "container app: cpu needs what its author wrote, and is not sized by usage: HorizontalPodAutoscaler web targets 80% of cpu requests"
	const second = "container second: cpu needs what its author wrote, and is not sized by usage: HorizontalPodAutoscaler web targets 80% of cpu requests"
	const fewer = "HorizontalPodAutoscaler web targets 80% of cpu requests: after this resize, the utilization for the same load is "
	authored, used := podtest.Amounts{"800m", "1600m", "3Gi", "6Gi"}, podtest.Amounts{"400m", "800m", "1000Mi", "2000Mi"}
	bothResources := podtest.Amounts{authored[0], authored[1], used[2], used[3]}
	bothContainers := podtest.Pod(podtest.Amounts{"1", "2", "3Gi", "6Gi"}, podtest.AsCreated, podtest.WithSecond(podtest.Amounts{"1", "2", "3Gi", "6Gi"}))
	planned := func(t *testing.T, p *corev1.Pod, changes ...func(*Snapshot)) *Plan {
		t.Helper()
		s, d := snapshotOf(t, p, podtest.Node("n4")), showing()
		d.needs["second"] = d.needs["app"]
		s.Now, s.Demand = podtest.At(100*hours), d
		for _, change := range changes {
			change(s)
		}
		return (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	}
	pods := autoscalingv2.MetricSpec{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{Target: average()}}
	object := autoscalingv2.MetricSpec{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{Target: average()}}
	external := autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{Target: average()}}
	for _, tc := range []struct {
		name        string
		scalers     []*autoscalingv2.HorizontalPodAutoscaler
		app, second podtest.Amounts
		want        string
	}{
		{"utilization of cpu leaves the cpu of all containers to their author", []*autoscalingv2.HorizontalPodAutoscaler{scaler("web", metricOf("cpu", percent()))}, bothResources, bothResources, why + "; " + second + "; " + fewer + "1.25 times as high"},
		{"utilization of memory leaves their memory", []*autoscalingv2.HorizontalPodAutoscaler{scaler("web", metricOf("memory", percent()))}, podtest.Amounts{"400m", "800m", "3Gi", "6Gi"}, podtest.Amounts{"400m", "800m", "3Gi", "6Gi"}, strings.ReplaceAll(why+"; "+second, "cpu", "memory")},
		{"utilization of a container leaves only that container", []*autoscalingv2.HorizontalPodAutoscaler{scaler("web", metricIn("app", "cpu", percent()))}, bothResources, used, why + " of container app; " + strings.Replace(fewer, "requests", "requests of container app", 1) + "1.25 times as high"},
		{"utilization of a container that the pod lacks leaves nothing", []*autoscalingv2.HorizontalPodAutoscaler{scaler("web", metricIn("other", "cpu", percent()))}, used, used, ""},
		{"two autoscalers leave a resource each", []*autoscalingv2.HorizontalPodAutoscaler{scaler("one", metricOf("cpu", percent())), scaler("two", metricOf("cpu", percent()), metricOf("memory", percent()))}, authored, authored, ""},
		{"an average value leaves nothing", []*autoscalingv2.HorizontalPodAutoscaler{scaler("web", metricOf("cpu", average()), metricIn("app", "memory", average()))}, used, used, ""},
		{"other metrics leave nothing", []*autoscalingv2.HorizontalPodAutoscaler{scaler("web", pods, object, external)}, used, used, ""},
		{"utilization counts among other metrics", []*autoscalingv2.HorizontalPodAutoscaler{scaler("web", external, metricOf("cpu", average()), metricOf("cpu", percent()))}, bothResources, bothResources, why + "; " + second + "; " + fewer + "1.25 times as high"},
		{"of other resources leaves nothing", []*autoscalingv2.HorizontalPodAutoscaler{scaler("web", metricOf("ephemeral-storage", percent()))}, used, used, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan := planned(t, bothContainers, scaledBy(tc.scalers...))
			if got := ofAutoscalers(plan); tc.want != "" && got != tc.want || (got == "") != (tc.app == used && tc.second == used) {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			for i, want := range []podtest.Amounts{tc.app, tc.second} {
				if c := plan.Containers[i]; c.Desired != want.Container() {
					t.Errorf("%s: %+v because of %v, want %+v: %v", c.Name, c.Desired, c.Causes, want.Container(), plan.Reasons)
				}
			}
		})
	}
	byCPU := scaledBy(scaler("web", metricOf("cpu", percent())))
	lowered := podtest.Pod(podtest.Amounts{"400m", "800m", "1000Mi", "2000Mi"}, podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "3Gi", "original-memory-limit.app", "6Gi", "applied-instance-type", "n4", "applied-at", podtest.At(11).Format(time.RFC3339)),
		podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.OriginalPrefix+"cpu.app")))
	t.Run("a new autoscaler undoes what usage lowered", func(t *testing.T) {
		if plan := planned(t, lowered); plan.Decision != Align || ofAutoscalers(plan) != "" {
			t.Fatalf("without one: %v because of %v", plan.Decision, plan.Reasons)
		}
		plan := planned(t, lowered, byCPU)
		if c := plan.Containers[0]; plan.Decision != Resize || c.Desired != bothResources.Container() || c.Causes != [2]Cause{ByRatio, Unchanged} || ofAutoscalers(plan) != why+"; "+fewer+"0.5 times as high" {
			t.Errorf("%v to %+v because of %v: %v", plan.Decision, c.Desired, c.Causes, plan.Reasons)
		}
	})
	t.Run("what usage showed is no longer recorded, even while nothing is measured", func(t *testing.T) {
		p := podtest.Pod(bothResources, podtest.Annotated("applied-demand", "app cpu 500m memory 1000Mi", "original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "3Gi", "original-memory-limit.app", "6Gi", "applied-instance-type", "n2d", "applied-at", podtest.At(11).Format(time.RFC3339)),
			podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(10, "app"), podtest.Managed(contract.FieldManager, "", 11, contract.AppliedAt, contract.AppliedSizes, contract.AppliedDemand, contract.OriginalPrefix+"cpu.app")))
		plan := planned(t, p, byCPU, func(s *Snapshot) { s.Demand = need.Unknown{} })
		recorded := map[string]*string{}
		if plan.made == nil {
			t.Fatalf("nothing is written: %v because of %v", plan.Decision, plan.Reasons)
		}
		if plan.made.annotateDemand(recorded); recorded[contract.AppliedDemand] == nil || strings.Contains(*recorded[contract.AppliedDemand], "cpu") {
			t.Errorf("%v", recorded)
		}
	})
	t.Run("a skipped pod says so next to where its demand comes from", func(t *testing.T) {
		plan := planned(t, lowered, byCPU, func(s *Snapshot) { s.Paused = &Stop{Scope: "namespace shop"} })
		if got := plan.Ignores(0, sizing.CPU); plan.Decision != Skip || got != "HorizontalPodAutoscaler web targets 80% of cpu requests" {
			t.Errorf("%v: %q", plan.Decision, got)
		}
		if got := planned(t, lowered, byCPU).Ignores(0, sizing.CPU); got != "" {
			t.Errorf("besides the reason: %q", got)
		}
	})
	t.Run("an aligned pod says so after why it is aligned", func(t *testing.T) {
		plan := planned(t, podtest.Pod(bothResources, podtest.AsCreated), byCPU, func(s *Snapshot) { s.Table = tableOf(t, 1, 1, nil) })
		if plan.Decision != Align || plan.Reasons[0].Code != contract.AlreadyAligned || ofAutoscalers(plan) != why {
			t.Errorf("%v because of %v", plan.Decision, plan.Reasons)
		}
	})
	t.Run("an imagined node counts in the same way", func(t *testing.T) {
		plan := planned(t, bothContainers, byCPU, func(s *Snapshot) { s.Imagine("n4") })
		if c := plan.Containers[0]; c.Desired != bothResources.Container() || !strings.HasPrefix(ofAutoscalers(plan), why) {
			t.Errorf("%+v: %v", c.Desired, plan.Reasons)
		}
	})
	t.Run("a restore does not look for autoscalers", func(t *testing.T) {
		plan := planned(t, lowered, func(s *Snapshot) {
			s.Restore = true
			s.Autoscalers = func() []*autoscalingv2.HorizontalPodAutoscaler {
				t.Error("asked")
				return nil
			}
		})
		if plan.Kind != Restore || ofAutoscalers(plan) != "" {
			t.Errorf("%v because of %v", plan.Kind, plan.Reasons)
		}
	})
	t.Run("what a VerticalPodAutoscaler sizes needs no reason", func(t *testing.T) {
		plan := planned(t, bothContainers, byCPU, func(s *Snapshot) {
			s.VPA = &safety.VPA{Name: "vpa", Active: true, Policies: []safety.VPAPolicy{{Container: "*", Resources: []string{"cpu"}}}}
		})
		if got := ofAutoscalers(plan); got != "" {
			t.Errorf("%s", got)
		}
	})
	t.Run("nor does what the author did not request", func(t *testing.T) {
		plan := planned(t, podtest.Pod(podtest.Amounts{"", "", "3Gi", "6Gi"}, podtest.AsCreated), byCPU)
		if got := ofAutoscalers(plan); got != "" {
			t.Errorf("%s", got)
		}
	})
	t.Run("what is not measured keeps its size, except for what the autoscaler compares with usage", func(t *testing.T) {
		unknown := func(s *Snapshot) { s.Demand = need.Unknown{} }
		if plan := planned(t, lowered, unknown); plan.Decision != Align {
			t.Fatalf("without an autoscaler: %v because of %v", plan.Decision, plan.Reasons)
		}
		plan := planned(t, lowered, byCPU, unknown)
		if c := plan.Containers[0]; c.Desired != bothResources.Container() || !strings.HasPrefix(ofAutoscalers(plan), why) {
			t.Errorf("%+v: %v", c.Desired, plan.Reasons)
		}
	})
	t.Run("a size that is adopted needs no reason", func(t *testing.T) {
		p := adopts(t, resizedBy(podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, asMadeWith), "they", podtest.Amounts{"2", "", "1Gi", ""}), "n2d")
		s := snapshotOf(t, p, podtest.Node("n4"))
		s.Now, s.Demand = podtest.At(100*hours), showing()
		byCPU(s)
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}).Plan(s)
		if got := ofAutoscalers(plan); plan.Containers[0].Desired.CPU.Request != 1600 || strings.Contains(got, "usage:") {
			t.Errorf("%+v: %s", plan.Containers[0].Desired, got)
		}
	})
}

// A workload has a constant load, which its pods share. Usage shows 1.15 times what each pod uses, as by default, and an
// autoscaler targets 70%. If it knows of the autoscaler, the planner must not lower what that measures: each decrease would
// add pods, of which each uses less, until there are as many as the autoscaler permits.
func TestAutoscalersAreNotFedByDecreases(t *testing.T) {
	const load, target, most = 4000, 0.7, 100
	byUtilization := metricOf("cpu", autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(100 * target))})
	replicas := func(known ...*autoscalingv2.HorizontalPodAutoscaler) int {
		n := 1
		for range 100 {
			used := float64(load) / float64(n)
			s, d := snapshotOf(t, podtest.Pod(podtest.Burstable, podtest.AsCreated), podtest.Node("n2d")), showing()
			needed := int64(1.15 * used)
			cpu := &d.needs["app"].CPU
			cpu.Target, cpu.Lower, cpu.Upper = needed, needed, needed
			s.Now, s.Demand, s.InTheEnd = podtest.At(100*3600), d, true
			scaledBy(known...)(s)
			request := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s).Containers[0].Desired.CPU.Request
			// As the HorizontalPodAutoscaler: a tenth is tolerated.
			if ratio := used / float64(request) / target; math.Abs(ratio-1) > 0.1 {
				n = min(max(1, int(math.Ceil(float64(n)*ratio))), most)
			}
		}
		return n
	}
	if n := replicas(scaler("web", byUtilization)); n != 6 { // At most 70% of a core each.
		t.Errorf("%d pods, want 6", n)
	}
	if n := replicas(); n != most {
		t.Errorf("the planner does not know the autoscaler, and it has only %d pods, so that this test shows nothing", n)
	}
}

// TestAutoscalersWithholdUsage plans arbitrary pods. If an autoscaler compares all that they request with usage, they must
// get the sizes that they would get without usage.
func TestAutoscalersWithholdUsage(t *testing.T) {
	const seed1, seed2, pods, seconds = 36, 7, 400, 10_000_000
	differ := 0
	for i := range pods {
		a := arbitrary{rand.New(rand.NewPCG(seed1, seed2+uint64(i)))}
		p := a.pod()
		planner := Planner{OwnerKinds: DefaultOwnerKinds, Sidecars: a.oneIn(2), KeepMemoryLimits: a.oneIn(4), External: at(a, Externals...)}
		table, on := a.table(t), podtest.Node(a.nodeType())
		d := &shown{needs: map[string]*need.Container{}, uses: at(a, 0, a.upTo(1<<40))}
		for c := range podtest.ContainersOf(p) {
			r := a.rules()
			d.needs[c.Name] = &need.Container{CPU: a.recommendation(r, 1e6), Memory: a.recommendation(r, 1<<40)}
		}
		sizes := func(demand need.Demand, metrics ...autoscalingv2.MetricSpec) string {
			s := &Snapshot{Pod: pod.From(p), Table: table, Around: safety.Surroundings{Room: node.Room{Node: on}}, Demand: demand, Now: podtest.At(seconds)}
			scaledBy(scaler("web", metrics...))(s)
			plan := planner.Plan(s)
			checkPlan(t, p, s, plan)
			text := plan.Decision.String()
			for i := range plan.Containers {
				text += fmt.Sprint(" ", plan.Containers[i].Desired)
			}
			return text
		}
		without := sizes(nil)
		if got := sizes(d, metricOf("cpu", percent()), metricOf("memory", percent())); got != without {
			t.Fatalf("seeds %d, %d: %s, without usage %s", seed1, seed2+uint64(i), got, without)
		}
		if sizes(d) != without {
			differ++
		}
	}
	if differ < pods/4 {
		t.Errorf("usage made a difference to %d pods only", differ)
	}
}

func TestVPA(t *testing.T) {
	memory := &safety.VPA{Name: "tuner", Active: true, Policies: []safety.VPAPolicy{{Container: "*", Resources: []string{"memory"}}}}
	fraction := podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", ""}, asMadeWith)
	for _, external := range Externals {
		s := snapshotOf(t, fraction, podtest.Node("n4"))
		s.VPA = memory
		p := (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(s)
		want := resourcesPatch{Requests: amountsPatch{CPU: "800m"}}
		if p.Decision != Resize || resizing(p).sizes.Containers[0].Resources != want {
			t.Errorf("%s: %v because of %v patches %+v, want %+v", external, p.Decision, p.Reasons, resizing(p).sizes, want)
		}
		resized := resizedBy(fraction.DeepCopy(), "updater", podtest.Amounts{"1", "", "2Gi", ""})
		s = snapshotOf(t, resized, podtest.Node("n4"))
		s.VPA = memory
		if p := (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(s); *sizing.Memory.Of(&p.Containers[0].Desired) != *sizing.Memory.Of(&p.Containers[0].Current) || lastOf(p, 0, sizing.CPU).Cause == ByAdoption || lastOf(p, 0, sizing.Memory).Cause == ByAdoption {
			t.Errorf("%s: memory that the autoscaler has set becomes %v, because of %v", external, p.Containers[0].Desired, p.Reasons)
		}
	}
	s := snapshotOf(t, podtest.Pod(podtest.Guaranteed, asMadeWith), podtest.Node("n4"))
	s.VPA = &safety.VPA{Name: "tuner", Active: true}
	if p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s); p.Decision != Skip || p.Reasons[0].Code != contract.ActiveVPA {
		t.Errorf("an autoscaler of all resources: %v because of %v", p.Decision, p.Reasons)
	}
}

// While an autoscaler boosts the start of a pod, its cpu is not what its author wrote, and must not become its original.
func TestVPABoost(t *testing.T) {
	vpa := &safety.VPA{Name: "tuner", Boosts: true}
	planned := func(seconds int, external External, p *corev1.Pod) *Plan {
		s := snapshotOf(t, p, podtest.Node("n4"))
		s.Table, s.Now, s.VPA = tableOf(t, 0.8, 0.5, nil), podtest.At(seconds), vpa
		return (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(s)
	}
	boosted := podtest.Pod(podtest.Amounts{"2", "", "1Gi", ""}, podtest.ManagedBy(podtest.AsMade))
	boosted.Annotations = map[string]string{"vpaCpuStartupBoost/app": "{}"}
	p := planned(100, LeaveExternal, boosted)
	if c := &p.Containers[0]; p.Decision != Resize || c.Desired.CPU != c.Current.CPU || c.Desired.Memory == c.Current.Memory {
		t.Fatalf("%v to %v because of %v", p.Decision, c.Desired, p.Reasons)
	}
	written := map[string]string{}
	for _, w := range actionsAt(p, podtest.At(100)) {
		for key, value := range w.Annotations {
			written[key] = *value
		}
	}
	if text, recorded := written[contract.CPURequest.Key("app")]; recorded || written[contract.MemoryRequest.Key("app")] != "1Gi" {
		t.Errorf("the original cpu is %q: %v", text, written)
	}
	// Its updater has lowered the cpu.
	after := podtest.Pod(podtest.Amounts{"1", "", "2Gi", ""}, podtest.ManagedBy(podtest.AsMade, podtest.ResizeBy(contract.FieldManager, 100, contract.MemoryRequest),
		podtest.Managed(contract.FieldManager, "", 101, contract.AppliedAt, contract.AppliedSizes, contract.OriginalPrefix+"memory.app", contract.OriginalPrefix+"cpu.app"), podtest.ResizeBy("vpa-updater", 150, contract.CPURequest)))
	after.Annotations = written
	for _, external := range []External{LeaveExternal, OverrideExternal} {
		if c := &planned(200, external, after).Containers[0]; c.Desired.CPU != c.Current.CPU {
			t.Errorf("%s: cpu %v becomes %v", external, c.Current.CPU, c.Desired.CPU)
		}
	}
}

// raisedBy is a pod whose cpu another controller has raised while it starts.
type raisedBy struct {
	*starting
}

// raisedWith returns a pod that starts, with the annotation of kube-startup-cpu-boost or of a VerticalPodAutoscaler, which
// their webhooks wrote: admission has no field manager.
func raisedWith(t testing.TB, of *corev1.Pod, nodeType string, table *ratios.Table, boost, vpa string) *raisedBy {
	s := &raisedBy{starts(t, of, nodeType, table)}
	s.pod.Annotations = map[string]string{"vpaCpuStartupBoost/app": vpa}
	if boost != "" {
		s.pod.Labels, s.pod.Annotations = map[string]string{startupCPUBoost: "spring"}, map[string]string{startupCPUBoost: boost}
	}
	return s
}

const startupCPUBoost = "autoscaling.x-k8s.io/startup-cpu-boost"

// ends lowers cpu as that controller does. Either the amounts or the annotation may be first, and the pod is settled in between.
func (s *raisedBy) ends(seconds int, cpu podtest.Amounts, annotationFirst bool) {
	lowers := func() {
		after := podtest.Pod(cpu).Spec.Containers[0].Resources
		s.pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = after.Requests[corev1.ResourceCPU]
		which := []contract.Original{contract.CPURequest}
		if limit, ok := after.Limits[corev1.ResourceCPU]; ok {
			s.pod.Spec.Containers[0].Resources.Limits[corev1.ResourceCPU] = limit
			which = append(which, contract.CPULimit)
		}
		s.pod.Status.ContainerStatuses[0].Resources = s.pod.Spec.Containers[0].Resources.DeepCopy()
		takeOver(s.pod, "booster", seconds, which...)
	}
	cleans := func() {
		delete(s.pod.Annotations, startupCPUBoost)
		delete(s.pod.Annotations, "vpaCpuStartupBoost/app")
		delete(s.pod.Labels, startupCPUBoost)
	}
	s.seconds, s.pod = seconds, s.pod.DeepCopy()
	if annotationFirst {
		cleans()
	} else {
		lowers()
	}
	if plan := s.settle(); plan.Containers[0].Desired.CPU != plan.Containers[0].Current.CPU {
		s.Errorf("in between, it is %s", told(plan))
	}
	s.pod = s.pod.DeepCopy()
	if annotationFirst {
		lowers()
	} else {
		cleans()
	}
}

// takeOver makes a manager the owner of amounts of app, as a resize does.
func takeOver(p *corev1.Pod, manager string, seconds int, which ...contract.Original) {
	for i := range p.ManagedFields {
		fields := p.ManagedFields[i].FieldsV1.GetRawString()
		for _, w := range which {
			list := map[contract.Original]string{contract.CPURequest: `"f:requests":{".":{},"f:cpu":{}`, contract.CPULimit: `"f:limits":{".":{},"f:cpu":{}`}[w]
			fields = strings.ReplaceAll(fields, list, strings.TrimSuffix(list, `,"f:cpu":{}`))
		}
		p.ManagedFields[i].FieldsV1 = metav1.NewFieldsV1(fields)
	}
	podtest.ManagedBy(podtest.ResizeBy(manager, seconds, which...))(p)
}

// Cpu that another controller raises while a pod starts is not what the author wrote, and stays until it is lowered. After that,
// the pod has the size for what its author wrote.
func TestRaised(t *testing.T) {
	const boost = `{"state":"Active","timestamp":"2026-11-21T00:00:00Z","initCPURequests":{"app":"500m"},"initCPULimits":{"app":"1"}}`
	both, request, limited := podtest.Amounts{"500m", "1", "", ""}, podtest.Amounts{"500m", "", "", ""}, podtest.Amounts{"400m", "800m", "1Gi", "2Gi"}
	for _, tc := range []struct {
		name       string
		size, then podtest.Amounts
		node       string
		vpa, boost string
		first      bool
		change     func(*corev1.Pod)
		after      podtest.Amounts
		reason     contract.Reason
	}{
		{name: "kube-startup-cpu-boost", size: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, then: both, node: "n4", boost: boost, after: limited, reason: contract.AlreadyAligned},
		{name: "kube-startup-cpu-boost, which removes its annotation first", size: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, then: both, node: "n4", boost: boost, first: true, after: limited, reason: contract.AlreadyAligned},
		{name: "kube-startup-cpu-boost, which removes limits", size: podtest.Amounts{"2", "", "1Gi", "2Gi"}, then: both, node: "n4", boost: boost, after: limited, reason: contract.AlreadyAligned},
		{name: "kube-startup-cpu-boost, next to memory that is resized", size: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, then: both, node: "big", boost: boost, after: podtest.Amounts{"250m", "500m", "512Mi", "1Gi"}, reason: contract.AlreadyAligned},
		{name: "a VerticalPodAutoscaler", size: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, then: both, node: "n4", vpa: `{"requests":{"cpu":"500m","memory":"1Gi"},"limits":{"cpu":"1","memory":"2Gi"}}`, after: limited, reason: contract.AlreadyAligned},
		{name: "a VerticalPodAutoscaler of requests alone", size: podtest.Amounts{"900m", "1", "1Gi", "2Gi"}, then: request, node: "n4", vpa: `{"requests":{"cpu":"500m","memory":"1Gi"},"limits":{"cpu":"1","memory":"2Gi"}}`, after: limited, reason: contract.AlreadyAligned},
		{name: "a VerticalPodAutoscaler of a pod that requests nothing else", size: podtest.Amounts{"2", "4", "", ""}, then: both, node: "n4", vpa: `{"requests":{"cpu":"500m"},"limits":{"cpu":"1"}}`, after: podtest.Amounts{"400m", "800m", "", ""}, reason: contract.AlreadyAligned},
		{name: "on the baseline", size: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, then: both, node: "n2d", boost: boost, after: podtest.Amounts{"500m", "1", "1Gi", "2Gi"}, reason: contract.AlreadyAligned},
		{name: "to a size that is not the one before", size: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, then: podtest.Amounts{"600m", "1", "", ""}, node: "n4", boost: boost, after: podtest.Amounts{"600m", "1", "1Gi", "2Gi"}, reason: contract.ExternallyResized},
		{name: "according to an annotation that somebody wrote later", size: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, then: both, node: "n4", boost: boost,
			change: podtest.ManagedBy(podtest.Managed("kubectl", "", 5, startupCPUBoost)), after: podtest.Amounts{"500m", "1", "1Gi", "2Gi"}, reason: contract.ExternallyResized},
		{name: "according to an annotation that somebody wrote later in the name of its creator", size: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, then: both, node: "n4", boost: boost,
			change: func(p *corev1.Pod) {
				before := p.DeepCopy()
				delete(before.Annotations, startupCPUBoost)
				p.ManagedFields = owning(before, p, "kube-controller-manager", "", 5)
			}, after: podtest.Amounts{"500m", "1", "1Gi", "2Gi"}, reason: contract.ExternallyResized},
		{name: "without a record of the size before", size: podtest.Amounts{"2", "4", "1Gi", "2Gi"}, then: both, node: "n4", vpa: "{}", after: podtest.Amounts{"500m", "1", "1Gi", "2Gi"}, reason: contract.ExternallyResized},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := raisedWith(t, podtest.Pod(tc.size), tc.node, startingBy(t, boostOnly(times(3)), "guard.enabled"), tc.boost, tc.vpa)
			s.change = func(s *Snapshot) {
				if tc.vpa != "" {
					s.VPA = &safety.VPA{Name: "spring", Boosts: true}
				}
			}
			if tc.change != nil {
				tc.change(s.pod)
			}
			s.seconds = 10
			plan := s.settle()
			if c := &plan.Containers[0]; c.Desired.CPU != c.Current.CPU || plan.Reasons[0].Code != contract.ActiveVPA || !strings.Contains(plan.Reasons[0].Message, " spring") {
				t.Errorf("while it starts: %s", told(plan))
			}
			if s.seconds = 20; s.plan().Pending() {
				t.Errorf("it is never over: %s", told(s.plan()))
			}
			s.ends(30, tc.then, tc.first)
			s.settle()
			if plan := s.plan(); !slices.Equal(sizesOf(s.pod), sizesOf(podtest.Pod(tc.after))) || plan.Pending() || plan.Reasons[0].Code != tc.reason {
				t.Errorf("it has %s, want %s: %s; %v", s.has(), podtest.SizesOf(podtest.Pod(tc.after)), told(plan), s.pod.Annotations)
			}
			if tc.reason != contract.AlreadyAligned {
				return
			}
			s.change = func(s *Snapshot) { s.Restore = true }
			if s.settle(); s.has() != podtest.SizesOf(podtest.Pod(podtest.Amounts{"500m", "1", tc.size[2], tc.size[3]})) {
				t.Errorf("it has %s after a restore", s.has())
			}
		})
	}
}

// After the boost of a VerticalPodAutoscaler, which sets memory back, too, usage and ratios size the pod as any other.
func TestRaisedIsSizedByUsageThen(t *testing.T) {
	const vpa = `{"requests":{"cpu":"500m","memory":"1Gi"},"limits":{"cpu":"1","memory":"2Gi"}}`
	for nodeType, want := range map[string][2]podtest.Amounts{ // while it starts, and then
		"n2d": {{"2", "4", "1Gi", "2Gi"}, {"200m", "400m", "1Gi", "2Gi"}},
		"n4":  {{"2", "4", "1Gi", "2Gi"}, {"160m", "320m", "1Gi", "2Gi"}},
		"big": {{"2", "4", "512Mi", "1Gi"}, {"100m", "200m", "512Mi", "1Gi"}},
	} {
		t.Run(nodeType, func(t *testing.T) {
			s := raisedWith(t, podtest.Pod(podtest.Amounts{"2", "4", "1Gi", "2Gi"}), nodeType, startingBy(t, policy.Settings{}, "guard.enabled"), "", vpa)
			demand := showing()
			demand.resized = need.Resized{}
			shows := demand.needs["app"]
			shows.CPU.Target, shows.CPU.Lower, shows.CPU.Upper, shows.Memory = 200, 190, 210, need.Recommendation{Rules: shows.Memory.Rules}
			s.demand, s.seconds = demand, 10
			s.change = func(s *Snapshot) { s.VPA = &safety.VPA{Name: "spring", Boosts: true} }
			if plan := s.settle(); s.has() != podtest.SizesOf(podtest.Pod(want[0])) {
				t.Errorf("while it starts, it has %s: %s", s.has(), told(plan))
			}
			before := s.pod
			s.seconds, s.pod = 30, s.pod.DeepCopy()
			s.pod.Spec.Containers[0].Resources = podtest.Pod(podtest.Amounts{"500m", "1", "1Gi", "2Gi"}).Spec.Containers[0].Resources
			s.pod.Status.ContainerStatuses[0].Resources = s.pod.Spec.Containers[0].Resources.DeepCopy()
			s.pod.ManagedFields = owning(before, s.pod, "vpa-updater", contract.ResizeSubresource, 30)
			s.settle()
			delete(s.pod.Annotations, "vpaCpuStartupBoost/app")
			s.settle()
			s.seconds = 100 * 3600 // A pod that was sized before waits before it is lowered.
			s.settle()
			if plan := s.plan(); !slices.Equal(sizesOf(s.pod), sizesOf(podtest.Pod(want[1]))) || plan.Pending() || plan.Reasons[0].Code != contract.AlreadyAligned {
				t.Errorf("then, it has %s: %s; %v", s.has(), told(plan), s.pod.Annotations)
			}
			for key := range s.pod.Annotations {
				if strings.HasPrefix(key, contract.AdoptedPrefix) {
					t.Errorf("it still has %s", key)
				}
			}
		})
	}
}

// The webhook of a VerticalPodAutoscaler raises cpu before or after the server sizes a pod at its creation.
func TestRaisedAtCreation(t *testing.T) {
	boosts := func(s *Snapshot) { s.VPA = &safety.VPA{Name: "spring", Boosts: true} }
	annotate := func(s *starting, was podtest.Amounts) {
		s.pod = s.pod.DeepCopy()
		if s.pod.Annotations == nil {
			s.pod.Annotations = map[string]string{}
		}
		s.pod.Annotations["vpaCpuStartupBoost/app"] = fmt.Sprintf(`{"requests":{"cpu":%q,"memory":%q},"limits":{"cpu":%q,"memory":%q}}`, was[0], was[2], was[1], was[3])
	}
	authored, sized := podtest.Amounts{"500m", "1", "1Gi", "2Gi"}, podtest.Amounts{"250m", "500m", "512Mi", "1Gi"}
	set := func(s *starting, to podtest.Amounts) {
		s.pod.Spec.Containers[0].Resources = to.Requirements()
		s.pod.Status.ContainerStatuses[0].Resources = s.pod.Spec.Containers[0].Resources.DeepCopy()
	}
	for _, first := range []bool{true, false} {
		before := map[bool]podtest.Amounts{true: authored, false: sized}[first]
		s := starts(t, podtest.Pod(authored), "big", startingBy(t, policy.Settings{}, "guard.enabled"))
		if first {
			set(s, podtest.Amounts{"2", "4", "1Gi", "2Gi"})
			annotate(s, before)
			s.creates("big", boosts)
		} else {
			s.creates("big")
			set(s, podtest.Amounts{"2", "4", "512Mi", "1Gi"})
		}
		annotate(s, before)
		s.change, s.seconds = boosts, 10
		if s.settle(); s.has() != podtest.SizesOf(podtest.Pod(podtest.Amounts{"2", "4", "512Mi", "1Gi"})) {
			t.Errorf("raised first: %t: while it starts, it has %s", first, s.has())
		}
		raised := s.pod
		s.pod, s.seconds = s.pod.DeepCopy(), 30
		set(s, before)
		s.pod.ManagedFields = owning(raised, s.pod, "vpa-updater", contract.ResizeSubresource, 30)
		s.settle()
		delete(s.pod.Annotations, "vpaCpuStartupBoost/app")
		if s.settle(); s.has() != podtest.SizesOf(podtest.Pod(sized)) || s.plan().Reasons[0].Code != contract.AlreadyAligned {
			t.Errorf("raised first: %t: then, it has %s: %s", first, s.has(), told(s.plan()))
		}
		s.change = func(s *Snapshot) { s.Restore = true }
		if s.settle(); s.has() != podtest.SizesOf(podtest.Pod(authored)) {
			t.Errorf("raised first: %t: after a restore, it has %s", first, s.has())
		}
	}
}

// randomlyRaised is a pod of which another controller has raised the cpu of some containers, by random parts.
type randomlyRaised struct {
	*starting
	a       arbitrary
	created *corev1.Pod
	vpa     bool
	// was has the resources of the containers that it will set back.
	was map[string]corev1.ResourceRequirements
}

func (s *randomlyRaised) raises() (raised bool) {
	s.was = map[string]corev1.ResourceRequirements{}
	annotations, requests, limits := map[string]string{}, map[string]string{}, map[string]string{}
	for i := range s.pod.Spec.Containers {
		c, by := &s.pod.Spec.Containers[i], 2+s.a.Int64N(3)
		before, to := *c.Resources.DeepCopy(), sizing.FromResources(c.Resources).CPU
		request, limit := s.a.oneIn(2) || classOf(s.created) == corev1.PodQOSGuaranteed, !s.a.oneIn(4)
		if to.Request == 0 || !request && !limit || s.a.oneIn(4) {
			continue
		}
		if limit || to.Limit == 0 {
			to.Limit *= by
		}
		if request {
			to.Request = min(to.Request*by, max(to.Limit, to.Request))
		}
		s.was[c.Name] = before
		c.Resources.Requests[corev1.ResourceCPU], requests[c.Name] = *resource.NewMilliQuantity(to.Request, resource.DecimalSI), before.Requests.Cpu().String()
		if to.Limit != 0 {
			c.Resources.Limits[corev1.ResourceCPU], limits[c.Name] = *resource.NewMilliQuantity(to.Limit, resource.DecimalSI), before.Limits.Cpu().String()
		}
		if to.Limit != 0 && !s.vpa && classOf(s.created) == corev1.PodQOSBurstable && s.a.oneIn(3) {
			delete(c.Resources.Limits, corev1.ResourceCPU)
		}
		text, err := json.Marshal(map[string]corev1.ResourceList{"requests": before.Requests, "limits": before.Limits})
		if err != nil {
			s.Fatal(err)
		}
		annotations["vpaCpuStartupBoost/"+c.Name] = string(text)
	}
	s.pod.Annotations = annotations
	if !s.vpa {
		text, err := json.Marshal(map[string]any{"state": "Active", "initCPURequests": requests, "initCPULimits": limits})
		if err != nil {
			s.Fatal(err)
		}
		s.pod.Labels, s.pod.Annotations = map[string]string{startupCPUBoost: "spring"}, map[string]string{startupCPUBoost: string(text)}
	}
	if s.a.oneIn(3) { // A policy records originals.
		for name, was := range s.was {
			s.pod.Annotations[contract.CPURequest.Key(name)] = was.Requests.Cpu().String()
		}
	}
	s.applies()
	return len(s.was) > 0 && classOf(s.pod) == classOf(s.created)
}

// applies lets the node make the sizes of the pod.
func (s *randomlyRaised) applies() {
	for i := range s.pod.Status.ContainerStatuses {
		s.pod.Status.ContainerStatuses[i].Resources = s.pod.Spec.Containers[i].Resources.DeepCopy()
	}
}

// partly does what is planned, or a part of it: the process may end.
func (s *randomlyRaised) partly() {
	if plan := s.plan(); plan.Pending() {
		s.pod = partly(s, s.a, s.pod, plan, s.seconds)
		s.applies()
	}
}

// setsBack lowers cpu, as the other controller does. A VerticalPodAutoscaler sets memory back, too.
func (s *randomlyRaised) setsBack() {
	before := s.pod
	s.pod = s.pod.DeepCopy()
	for i := range s.pod.Spec.Containers {
		c := &s.pod.Spec.Containers[i]
		was, raised := s.was[c.Name]
		switch {
		case !raised:
		case s.vpa:
			c.Resources = *was.DeepCopy()
		default:
			c.Resources.Requests[corev1.ResourceCPU] = was.Requests[corev1.ResourceCPU]
			if limit, ok := was.Limits[corev1.ResourceCPU]; ok {
				limits := corev1.ResourceList{}
				maps.Copy(limits, c.Resources.Limits)
				limits[corev1.ResourceCPU], c.Resources.Limits = limit, limits
			}
		}
	}
	s.pod.ManagedFields = owning(before, s.pod, "booster", contract.ResizeSubresource, s.seconds)
	s.applies()
}

// After the boost of another controller, a pod has what it would have without: compared with a pod that never had one.
func TestRaisedLives(t *testing.T) {
	const lives = 600
	raised := 0
	for seed := range lives {
		a := arbitrary{rand.New(rand.NewPCG(uint64(seed), 103))}
		settings := policy.Settings{}
		if a.oneIn(3) {
			settings.Bounds = policy.Bounds{CPU: a.bounds(4000), Memory: a.bounds(4 << 30)}
		}
		created, nodeType, table := a.smallPod(), at(a, "n2d", "n4", "big", "fast", "slow"), startingBy(t, settings, "guard.enabled")
		twin := starts(t, created.DeepCopy(), nodeType, table)
		s := &randomlyRaised{starting: starts(t, created.DeepCopy(), nodeType, table), a: a, created: created, vpa: a.oneIn(2)}
		s.planner.External = at(a, LeaveExternal, LeaveExternal, AdoptExternal, OverrideExternal)
		s.change = func(snapshot *Snapshot) {
			if s.vpa {
				snapshot.VPA = &safety.VPA{Name: "spring", Boosts: true}
			}
		}
		if !s.raises() {
			continue
		}
		raised++
		for range a.IntN(4) {
			s.seconds += 1 + a.IntN(20)
			s.partly()
		}
		s.settle()
		s.seconds += 10
		s.setsBack()
		if a.oneIn(2) {
			s.partly()
		}
		s.pod = s.pod.DeepCopy()
		s.pod.Labels = nil
		maps.DeleteFunc(s.pod.Annotations, func(key, _ string) bool { return !contract.Ours(key) })
		s.settle()
		for _, second := range []int{s.seconds, 1000} {
			s.seconds, twin.seconds = second, second
			s.settle()
			twin.settle()
		}
		if !slices.Equal(sizesOf(s.pod), sizesOf(twin.pod)) || s.plan().Pending() {
			t.Errorf("seed %d: on %s (%s), it has %s in the end, and without a boost %s: %s; %v", seed, nodeType, s.planner.External, s.has(), twin.has(), told(s.plan()), s.pod.Annotations)
		}
		s.change = func(s *Snapshot) { s.Restore = true }
		if s.settle(); !slices.Equal(sizesOf(s.pod), sizesOf(created)) {
			t.Errorf("seed %d: on %s (%s), it has %s after a restore, and had %s", seed, nodeType, s.planner.External, s.has(), podtest.SizesOf(created))
		}
		if t.Failed() {
			return
		}
	}
	if raised < lives/3 {
		t.Errorf("of %d pods, the cpu of %d is raised", lives, raised)
	}
}
