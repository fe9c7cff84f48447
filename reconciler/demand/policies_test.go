package demand

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/vpa"
)

// tune adds a VerticalPodAutoscaler with this mode and an addition to its spec.
func (f *fixture) tune(t *testing.T, name, target, mode, spec string) {
	t.Helper()
	f.tuneIn(t, "shop", name, target, mode, spec)
}

// tuneIn is like tune, in a namespace.
func (f *fixture) tuneIn(t *testing.T, namespace, name, target, mode, spec string) {
	t.Helper()
	o := &unstructured.Unstructured{}
	text := `{metadata: {namespace: ` + namespace + `, name: ` + name + `, annotations: {workload-resizer.io/mode: ` + mode + `}}, spec: {targetRef: ` + target +
		`, recommenders: [{name: workload-resizer}], updatePolicy: {updateMode: "Off"}` + spec + `}}`
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	if err := f.of.KnowPolicy(vpa.From(o)); err != nil {
		t.Fatal(err)
	}
}

// deployment is the target of a VerticalPodAutoscaler for the pods of a fixture.
const deployment = "{kind: Deployment, name: web}"

func containerPolicies(list string) string {
	return ", resourcePolicy: {containerPolicies: [" + list + "]}"
}

// found returns what a VerticalPodAutoscaler should say.
func (f *fixture) found(t *testing.T, name string) vpa.Found {
	t.Helper()
	for _, s := range f.Statuses() {
		if s.Object.Name() == name {
			return s.Found
		}
	}
	t.Fatalf("nothing is said about %s", name)
	return vpa.Found{}
}

func TestPolicies(t *testing.T) {
	t.Run("a policy outranks the mode of the rule", aPolicyOutranksTheModeOfTheRule)
	t.Run("sizes follow only what a policy controls", sizesFollowOnlyWhatAPolicyControls)
	t.Run("bounds of a policy count within those of the rule", boundsOfAPolicyCountWithinThoseOfTheRule)
	t.Run("limits and kills follow the policy", limitsAndKillsFollowThePolicy)
	t.Run("of several policies for a pod none counts", ofSeveralPoliciesForAPodNoneCounts)
	t.Run("a policy without pods has the history of its target", aPolicyWithoutPodsHasTheHistoryOfItsTarget)
	t.Run("a target has what its newest pod runs", aTargetHasWhatItsNewestPodRuns)
	t.Run("pods are planned again when a policy changes", podsArePlannedAgainWhenAPolicyChanges)
	t.Run("pods are planned again when the policy of an unmeasured workload changes", podsArePlannedAgainWhenThePolicyOfAnUnmeasuredWorkloadChanges)
}

func aPolicyOutranksTheModeOfTheRule(t *testing.T) {
	for _, tc := range []struct {
		name, target, mode string
		layer              *ratios.Layer
		want               bool
	}{
		{"applied although the author's would be", deployment, "apply", clustertest.Published(), true},
		{"observed although usage would be applied", deployment, "observe", following(), false},
		{"named by the controller of the pods", "{kind: ReplicaSet, name: web-1}", "apply", clustertest.Published(), true},
		{"of another target", "{kind: Deployment, name: api}", "apply", clustertest.Published(), false},
		{"of another kind", "{kind: StatefulSet, name: web}", "observe", following(), true},
		{"that is refused leaves it to the rule", deployment, "auto", following(), true},
		{"that is refused applies nothing", deployment, "auto", clustertest.Published(), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, tc.layer)
			f.tune(t, "web", tc.target, tc.mode, "")
			f.round(t)
			if got := f.needsOf(t, "web-1-x"); (got != nil) != tc.want {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("that applies keeps sizes until the needs are known", func(t *testing.T) {
		f := newFixture(t, clustertest.Published())
		f.tune(t, "web", deployment, "apply", "")
		p := f.of.Pods("shop").Get("web-1-x")
		if got := f.NeedsOf(p, f.of.Owners().Chain(nil, p), f.Ratios.Table(), false); got != (need.Unknown{}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("does not exist unless so configured", func(t *testing.T) {
		f := newFixture(t, clustertest.Published())
		f.of.VPAPolicies = false
		f.tune(t, "web", deployment, "apply", "")
		f.round(t)
		if got := f.needsOf(t, "web-1-x"); got != nil || f.Statuses() != nil {
			t.Errorf("%+v, %+v", got, f.Statuses())
		}
	})
}

func sizesFollowOnlyWhatAPolicyControls(t *testing.T) {
	for list, want := range map[string][2]bool{
		``: {true, true},
		`{containerName: app, controlledResources: [memory]}`:                               {false, true},
		`{containerName: "*", controlledResources: [cpu]}`:                                  {true, false},
		`{containerName: app, mode: "Off"}`:                                                 {false, false},
		`{containerName: "*", mode: "Off"}, {containerName: app}`:                           {true, true},
		`{containerName: "*", controlledResources: []}`:                                     {false, false},
		`{containerName: proxy, mode: "Off"}, {containerName: "*", controlledValues: null}`: {true, true},
	} {
		f := newFixture(t, following())
		f.tune(t, "web", deployment, "apply", containerPolicies(list))
		f.round(t)
		got := f.needsOf(t, "web-1-x")
		if got == nil {
			t.Fatalf("%s: it is not known what the container needs", list)
		}
		if (got.CPU.Target > 0) != want[0] || (got.Memory.Target > 0) != want[1] {
			t.Errorf("%s: cpu %+v, memory %+v; want %v", list, got.CPU, got.Memory, want)
		}
		containers := f.found(t, "web").Containers
		if (len(containers) > 0) != (want[0] || want[1]) {
			t.Fatalf("%s: %+v", list, containers)
		}
		if len(containers) > 0 && ((containers[0].Target[0] > 0) != want[0] || (containers[0].Target[1] > 0) != want[1]) {
			t.Errorf("%s: %+v", list, containers)
		}
	}
}

func boundsOfAPolicyCountWithinThoseOfTheRule(t *testing.T) {
	layer := clustertest.Published()
	layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{CPU: policy.ResourceDemand{Bounds: sizing.Range{Max: 900}}}})
	for list, want := range map[string]int64{
		``: 900,
		`{containerName: app, maxAllowed: {cpu: 700m}}`:                          700,
		`{containerName: app, maxAllowed: {cpu: "5"}}`:                           900,
		`{containerName: app, minAllowed: {cpu: "3"}, maxAllowed: {cpu: "5"}}`:   900,
		`{containerName: app, minAllowed: {cpu: 100m}, maxAllowed: {cpu: 100m}}`: 100,
	} {
		f := newFixture(t, layer)
		f.tune(t, "web", deployment, "apply", containerPolicies(list))
		f.round(t)
		found := f.found(t, "web")
		if got := f.needsOf(t, "web-1-x"); got.CPU.Target != want || found.Containers[0].Target[0] != want || found.Containers[0].Uncapped[0] < 1150 {
			t.Errorf("%s: %+v and %+v, want %dm", list, got.CPU, found.Containers, want)
		}
	}
}

func limitsAndKillsFollowThePolicy(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.tune(t, "web", deployment, "apply", `, resourcePolicy: {containerPolicies: [{containerName: app, controlledValues: RequestsOnly, oomBumpUpRatio: "2", oomMinBumpUp: 1Gi}]}`)
	f.round(t)
	o := f.survey.Load().options(app)
	if l := o.Recommend.Limits; l.CPU != need.Keep || l.Memory != need.Keep || o.History.OOMBump != 2 || o.History.OOMMinBump != 1<<30 {
		t.Errorf("limits %+v, history %+v", l, o.History)
	}
	f.tune(t, "web", deployment, "apply", containerPolicies(`{containerName: "*", controlledValues: RequestsAndLimits}`))
	f.round(t)
	if l := f.survey.Load().options(app).Recommend.Limits; l.CPU != need.Follow || l.Memory != need.Follow {
		t.Errorf("limits %+v", l)
	}
}

func ofSeveralPoliciesForAPodNoneCounts(t *testing.T) {
	for name, target := range map[string]string{"the same target": deployment, "an owner": "{kind: ReplicaSet, name: web-1}"} {
		f := newFixture(t, clustertest.Published())
		f.tune(t, "web", deployment, "apply", "")
		f.tune(t, "other", target, "observe", "")
		f.round(t)
		if got := f.needsOf(t, "web-1-x"); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
		for a, b := range map[string]string{"web": "other", "other": "web"} {
			if fault := f.found(t, a).Fault; fault == nil || fault.Reason != vpa.SeveralObjects || !strings.Contains(fault.Message, "VerticalPodAutoscaler "+b) {
				t.Errorf("%s: %s: %+v", name, a, fault)
			}
		}
	}
}

func aPolicyWithoutPodsHasTheHistoryOfItsTarget(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.tune(t, "web", deployment, "apply", "")
	f.tune(t, "gone", "{kind: Deployment, name: gone}", "apply", "")
	f.round(t)
	before := f.found(t, "web")
	if !before.Pods || len(before.Containers) != 1 || before.Baseline != "n2d" {
		t.Fatalf("%+v", before)
	}
	if gone := f.found(t, "gone"); gone.Pods || gone.Containers != nil || gone.Fault != nil {
		t.Errorf("%+v", gone)
	}
	objects := f.of.Policies()
	f.deleteAll(t)
	for _, o := range objects {
		if err := f.Cluster.KnowPolicy(o); err != nil {
			t.Fatal(err)
		}
	}
	clustertest.Clock(f.of).Step(time.Hour)
	f.publish(t.Context())
	if after := f.found(t, "web"); after.Pods || len(after.Containers) != 1 || after.Containers[0].Target != before.Containers[0].Target {
		t.Errorf("%+v, before %+v", after, before)
	}
}

func aTargetHasWhatItsNewestPodRuns(t *testing.T) {
	f := newFixture(t, ruled())
	f.tune(t, "web", deployment, "observe", "")
	f.round(t)
	// The rule has another baseline.
	if found := f.found(t, "web"); found.Baseline != "n4" || len(found.Containers) != 1 || found.Containers[0].Target[0] > 1000 {
		t.Errorf("%+v", found)
	}
	renamed := newFixture(t, ruled(), func(p *corev1.Pod) { p.Spec.Containers[0].Name = "main" })
	renamed.tune(t, "web", deployment, "observe", "")
	renamed.publish(t.Context())
	if found := renamed.found(t, "web"); len(found.Containers) != 0 || !found.Pods {
		t.Errorf("%+v", found)
	}
}

func podsArePlannedAgainWhenAPolicyChanges(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	f.tune(t, "web", deployment, "observe", "")
	changed := &changes{}
	f.of.Serve(changed, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
	step := func(what string, want int) {
		t.Helper()
		changed.pods = nil
		f.round(t)
		if len(changed.pods) != want {
			t.Errorf("%s: %d pods are planned again, want %d", what, len(changed.pods), want)
		}
	}
	step("observed", 0)
	f.tune(t, "web", deployment, "apply", "")
	step("applied", 2)
	step("nothing", 0)
	f.tune(t, "web", deployment, "apply", containerPolicies(`{containerName: "*", controlledResources: [cpu]}`))
	step("without memory", 2)
	f.tune(t, "web", deployment, "apply", containerPolicies(`{containerName: "*", controlledResources: [memory]}`))
	step("without cpu", 2)
	f.tune(t, "web", deployment, "observe", "")
	step("observed again", 2)
}

// Pods that were sized before keep their sizes while nothing is known, and must not keep them once nothing is applied.
func podsArePlannedAgainWhenThePolicyOfAnUnmeasuredWorkloadChanges(t *testing.T) {
	f := newFixture(t, clustertest.Published())
	changed := &changes{}
	f.of.Serve(changed, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
	for _, mode := range []string{"apply", "observe", "apply"} {
		changed.pods = nil
		f.tune(t, "web", deployment, mode, "")
		f.publish(t.Context())
		if len(changed.pods) != 2 {
			t.Errorf("%s: %q are planned again", mode, changed.pods)
		}
		changed.pods = nil
		f.publish(t.Context())
		if len(changed.pods) != 0 {
			t.Errorf("still %s: %q are planned again", mode, changed.pods)
		}
	}
	f.tune(t, "web", "{kind: Deployment, name: api}", "apply", "")
	f.publish(t.Context())
	if len(changed.pods) != 2 {
		t.Errorf("without a policy, %q are planned again", changed.pods)
	}
}
