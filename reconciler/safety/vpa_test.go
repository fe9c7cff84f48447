package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestVPAActive(t *testing.T) {
	for mode, want := range map[string]bool{"": true, "Auto": true, "Recreate": true, "InPlaceOrRecreate": true, "InPlace": true, "Off": false, "Initial": false} {
		if got := VPAActive(mode); got != want {
			t.Errorf("updateMode %q: %v", mode, got)
		}
	}
}

func TestVPASizes(t *testing.T) {
	starting := func(p *corev1.Pod) { p.Annotations = map[string]string{"vpaCpuStartupBoost/app": "{}"} }
	memory := []VPAPolicy{{Container: "*", Resources: []string{"memory"}}}
	for _, tc := range []struct {
		name        string
		vpa         *VPA
		change      func(*corev1.Pod)
		cpu, memory bool
	}{
		{"none", nil, nil, false, false},
		{"all without a policy", &VPA{Active: true}, nil, true, true},
		{"only memory", &VPA{Active: true, Policies: memory}, nil, false, true},
		{"not a container that is off", &VPA{Active: true, Policies: []VPAPolicy{{Container: "*"}, {Container: "app", Off: true}}}, nil, false, false},
		{"the last of two policies for all", &VPA{Active: true, Policies: []VPAPolicy{{Container: "*", Off: true}, {Container: "*", Resources: []string{"cpu"}}}}, nil, true, false},
		{"the policy of another container does not count", &VPA{Active: true, Policies: []VPAPolicy{{Container: "proxy", Off: true}}}, nil, true, true},
		{"an empty list is nothing", &VPA{Active: true, Policies: []VPAPolicy{{Container: "app", Resources: []string{}}}}, nil, false, false},
		{"cpu while the start is boosted", &VPA{Boosts: true}, starting, true, false},
		{"cpu next to memory while the start is boosted", &VPA{Active: true, Boosts: true, Policies: memory}, starting, true, true},
		{"nothing after the boost", &VPA{Boosts: true}, nil, false, false},
		{"nothing if the annotation is from another autoscaler", &VPA{}, starting, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(podtest.Guaranteed)
			if tc.change != nil {
				tc.change(p)
			}
			of := pod.From(p)
			if cpu, memory := tc.vpa.Sizes(of, "app", sizing.CPU), tc.vpa.Sizes(of, "app", sizing.Memory); cpu != tc.cpu || memory != tc.memory {
				t.Errorf("it sizes cpu %t, memory %t; want %t, %t", cpu, memory, tc.cpu, tc.memory)
			}
		})
	}
}
