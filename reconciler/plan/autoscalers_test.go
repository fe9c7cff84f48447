package plan

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestAutoscalers(t *testing.T) {
	share := int32(80)
	scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &share},
		}}},
	}}
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
				return []*autoscalingv2.HorizontalPodAutoscaler{scaler}
			}
			plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
			got := ""
			for i, reason := range plan.Reasons {
				if reason.Code == contract.HPAUtilization {
					got = reason.Message
					if i == 0 && plan.Decision == Align {
						t.Error("it is the first reason, which must say why the pod is aligned")
					}
				}
			}
			if plan.Decision != tc.decision || got != tc.want || asked != tc.asked {
				t.Errorf("%s, asked %t: %q\nwant %s, %t: %q", plan.Decision, asked, got, tc.decision, tc.asked, tc.want)
			}
		})
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
		if p := (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(s); *sizing.Memory.Of(&p.Containers[0].Desired) != *sizing.Memory.Of(&p.Containers[0].Current) || stepOf(p, 0, sizing.CPU).Cause == ByAdoption || stepOf(p, 0, sizing.Memory).Cause == ByAdoption {
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
