package demand

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
)

// Tenants may create pods with any labels and owner references, and VerticalPodAutoscalers, in their own namespace.
func TestTenants(t *testing.T) {
	t.Run("a pod that names an owner in another namespace counts for its own", countsForItsOwnNamespace)
	t.Run("a policy says nothing about pods in other namespaces", saysNothingAboutOtherNamespaces)
	t.Run("no policy lets a container grow more than the rule does", growsNoMoreThanTheRuleAllows)
	t.Run("of many policies for the same pods none counts", ofManyPoliciesNoneCounts)
}

func countsForItsOwnNamespace(t *testing.T) {
	alone := newFixture(t, following())
	alone.round(t)
	f := newFixture(t, following())
	evil := f.source.pods[0].DeepCopy() // It has the same labels, and names the same owners with the same UIDs.
	clustertest.Named("evil", "evil", evil.Spec.NodeName)(evil)
	f.source.pods = append(f.source.pods, evil)
	f.source.cpu["evil"] = 8000
	f.of = clustertest.Of(t, f.source.pods, f.of.Nodes())
	f.of.Ratios, f.Cluster = f.Ratios, f.of
	f.round(t)
	if got, want := f.target(t, ""), alone.target(t, ""); got != want {
		t.Errorf("%+v, and %+v without the pod of another tenant", got, want)
	}
}

func saysNothingAboutOtherNamespaces(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.tuneIn(t, "evil", "web", deployment, "apply", containerPolicies(`{containerName: app, minAllowed: {cpu: "7"}}`))
	f.tuneIn(t, "evil", "shop", "{kind: Deployment, name: shop/web}", "apply", "")
	f.tuneIn(t, "evil", "space", "{kind: shop/Deployment, name: web}", "apply", "")
	f.round(t)
	if got := f.needsOf(t, "web-1-x"); got != nil {
		t.Errorf("%+v", got)
	}
	for _, s := range f.Statuses() {
		if s.Found.Pods || len(s.Found.Containers) > 0 {
			t.Errorf("%s learns %+v", s.Object.Name(), s.Found)
		}
	}
	g := newFixture(t, following())
	g.tuneIn(t, "evil", "web", deployment, "observe", "")
	g.round(t)
	if got := g.needsOf(t, "web-1-x"); got == nil {
		t.Error("usage is no longer applied")
	}
}

func growsNoMoreThanTheRuleAllows(t *testing.T) {
	for _, tc := range []struct {
		name        string
		bounds      policy.Bounds
		cpu, memory int64
	}{
		{"than demand.maxGrowth", policy.Bounds{}, 4000, 4 << 30},
		{"than the bounds", policy.Bounds{CPU: sizing.Range{Max: 1500}, Memory: sizing.Range{Max: 2 << 30}}, 1500, 2 << 30},
	} {
		t.Run(tc.name, func(t *testing.T) {
			layer := clustertest.Published()
			layer.Settings = keys.Some(policy.Settings{Bounds: tc.bounds})
			desired := func(annotations map[string]string) sizing.Container {
				f := newFixture(t, layer, func(p *corev1.Pod) { p.Annotations = annotations })
				f.tune(t, "web", deployment, "apply", containerPolicies(`{containerName: app, minAllowed: {cpu: "500", memory: 500Gi}}`))
				f.round(t)
				p := f.of.Pods("shop").Get("web-1-x")
				s := plan.Snapshot{Pod: p, Table: f.Ratios.Table(), Now: f.Clock.Now(), Demand: f.demandOf(p.Name)}
				s.Around.Node = f.of.Node(p)
				return f.Planner.Plan(&s).Containers[0].Desired
			}
			if got := desired(nil); got.CPU.Request != tc.cpu || got.Memory.Request != tc.memory {
				t.Errorf("%+v, want %d millicores and %d bytes", got, tc.cpu, tc.memory)
			}
			// A caller that may write a pod may write any annotations.
			forged := desired(map[string]string{
				"workload-resizer.io/applied-demand": "app cpu 900 memory 900Gi", "workload-resizer.io/original-cpu.app": "900",
				"workload-resizer.io/original-memory.app": "900Gi",
			})
			if forged.CPU.Request > tc.cpu || forged.Memory.Request > tc.memory {
				t.Errorf("%+v with forged annotations", forged)
			}
		})
	}
}

func ofManyPoliciesNoneCounts(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	for i := range 30 {
		target := deployment
		if i%3 == 2 {
			target = "{kind: ReplicaSet, name: web-1}"
		}
		f.tune(t, fmt.Sprintf("v%02d", i), target, "apply", "")
	}
	f.round(t)
	if got := f.needsOf(t, "web-1-x"); got != nil {
		t.Errorf("%+v", got)
	}
	for _, s := range f.Statuses() {
		rival := "VerticalPodAutoscaler v00 "
		if s.Object.Name() == "v00" {
			rival = "VerticalPodAutoscaler v01 "
		}
		if fault := s.Found.Fault; fault == nil || fault.Reason != vpa.SeveralObjects || !strings.HasPrefix(fault.Message, rival) || !s.Found.Pods {
			t.Errorf("%s: %+v, %+v, want %s", s.Object.Name(), s.Found, fault, rival)
		}
	}
}
