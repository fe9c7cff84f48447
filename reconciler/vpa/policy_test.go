package vpa

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// object reads an object from YAML.
func object(t *testing.T, text string) *Object {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	// Numbers are whole, as in an object that the API server returns.
	whole(o.Object)
	return From(o)
}

func whole(o map[string]any) {
	for key, value := range o {
		switch v := value.(type) {
		case float64:
			o[key] = int64(v)
		case map[string]any:
			whole(v)
		case []any:
			for _, item := range v {
				if item, ok := item.(map[string]any); ok {
					whole(item)
				}
			}
		}
	}
}

// ours is an object that names workload-resizer, and is not refused.
const ours = `{metadata: {name: web, namespace: shop, uid: u, generation: 3%s}, spec: {targetRef: {kind: Deployment, name: web}, recommenders: [{name: workload-resizer}], updatePolicy: {updateMode: "Off"%s}%s}}`

// tuning returns an object that names workload-resizer, with additions to its metadata, updatePolicy and spec.
func tuning(t *testing.T, metadata, updates, spec string) *Object {
	t.Helper()
	return object(t, fmt.Sprintf(ours, metadata, updates, spec))
}

// policies returns an addition to a spec.
func policies(list string) string {
	return ", resourcePolicy: {containerPolicies: [" + list + "]}"
}

func TestPolicy(t *testing.T) {
	const mode = `, annotations: {workload-resizer.io/mode: apply}`
	for _, tc := range []struct {
		name                    string
		metadata, updates, spec string
		want                    Policy
	}{
		{"observes by default", "", "", "", Policy{Mode: "observe"}},
		{"applies", mode, "", "", Policy{Mode: "apply"}},
		{"has the longest time after kills if it is longer", "", ", evictAfterOOMSeconds: 9223372037", "", Policy{Mode: "observe", QuickKill: math.MaxInt64 / time.Second * time.Second}},
		{"has a time after kills", "", ", evictAfterOOMSeconds: 90", "", Policy{Mode: "observe", QuickKill: 90 * time.Second}},
		{"has fields without effect", "", ", minReplicas: 2, evictionRequirements: [{}]", policies("{memoryAggregationIntervalCount: 4}, {memoryAggregationIntervalCount: 3}"), Policy{
			Mode: "observe", Containers: []Container{{}, {}}, Ignored: []string{"evictionRequirements", "memoryAggregationIntervalCount", "minReplicas"},
		}},
		{"has policies for containers", "", "", policies(`{containerName: "*", mode: "Off"}, {containerName: app, controlledResources: [memory], controlledValues: RequestsOnly, minAllowed: {cpu: 1, memory: 100Mi}, maxAllowed: {cpu: 1500m}, oomBumpUpRatio: "1.5", oomMinBumpUp: 200Mi}, {containerName: proxy, controlledResources: [], controlledValues: RequestsAndLimits}`), Policy{
			Mode: "observe", Containers: []Container{
				{Name: "*", Off: true},
				{Name: "app", CPU: Resource{Left: true, Bounds: sizing.Range{Min: 1000, Max: 1500}}, Memory: Resource{Bounds: sizing.Range{Min: 100 << 20}}, Limit: "keep", OOMBump: 1.5, OOMMinBump: 200 << 20},
				{Name: "proxy", CPU: Resource{Left: true}, Memory: Resource{Left: true}, Limit: "follow"},
			},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(&tc.want, tuning(t, tc.metadata, tc.updates, tc.spec).Policy); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, text := range []string{`{}`, `{spec: {recommenders: []}}`, `{spec: {recommenders: [{name: default}, 3]}}`} {
		if o := object(t, text); o.Policy != nil || o.Sizes.Active != true {
			t.Errorf("%s does not name workload-resizer: %+v", text, o.Policy)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct{ name, text, reason, message string }{
		{"a mode in which others act", `{spec: {recommenders: [{name: workload-resizer}], updatePolicy: {updateMode: Initial}}}`, NotOff, "must be Off, not Initial"},
		{"no mode", `{spec: {recommenders: [{name: workload-resizer}]}}`, NotOff, "unset, which means Recreate"},
		{"another recommender", `{spec: {recommenders: [{name: default}, {name: workload-resizer}]}}`, SeveralRecommenders, "must name workload-resizer alone"},
		{"a boost", `{spec: {recommenders: [{name: workload-resizer}], updatePolicy: {updateMode: "Off"}, startupBoost: {cpu: {type: Factor}}}}`, Boosts, "even in the mode Off"},
		{"a boost of a container", `{spec: {recommenders: [{name: workload-resizer}], updatePolicy: {updateMode: "Off"}, resourcePolicy: {containerPolicies: [{startupBoost: {cpu: {type: Factor}}}]}}}`, Boosts, "even in the mode Off"},
		{"an unknown mode of ours", `{metadata: {annotations: {workload-resizer.io/mode: auto}}, spec: {recommenders: [{name: workload-resizer}], updatePolicy: {updateMode: "Off"}}}`, UnknownMode, `must be observe or apply, not "auto"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if f := object(t, tc.text).Policy.Fault; f == nil || f.Reason != tc.reason || !strings.Contains(f.Message, tc.message) {
				t.Errorf("%+v, want %s: %s", f, tc.reason, tc.message)
			}
		})
	}
	for list, message := range map[string]string{
		`{containerName: app, minAllowed: {cpu: 2}, maxAllowed: {cpu: 1}}`: `the policy of container "app": the cpu in minAllowed is above maxAllowed`,
		`{minAllowed: {memory: x}}`:                                        `minAllowed: memory: "x" is not a quantity`,
		`{maxAllowed: {memory: -1}}`:                                       "maxAllowed: memory",
		`{oomBumpUpRatio: "0.5"}`:                                          `oomBumpUpRatio must be from 1 to 100, not "0.5"`,
		`{oomBumpUpRatio: 1e9}`:                                            "oomBumpUpRatio must be",
		`{oomBumpUpRatio: x}`:                                              "oomBumpUpRatio must be",
		`{oomBumpUpRatio: "1e-2147483647"}`:                                "oomBumpUpRatio must be", // It would take hours to read.
		`{oomMinBumpUp: "-5"}`:                                             "oomMinBumpUp",
	} {
		if f := tuning(t, "", "", policies(list)).Policy.Fault; f == nil || f.Reason != InvalidPolicy || !strings.Contains(f.Message, message) {
			t.Errorf("%s: %+v, want %s", list, f, message)
		}
	}
}

func TestOver(t *testing.T) {
	d := keys.Defaults[policy.Demand]()
	d.CPU.Bounds, d.Memory.Bounds = sizing.Range{Min: 100, Max: 2000}, sizing.Range{Max: 1 << 30}
	for _, tc := range []struct {
		name, list  string
		cpu, memory sizing.Range
		limits      [2]string
	}{
		{"the administrator's bounds remain", ``, sizing.Range{Min: 100, Max: 2000}, sizing.Range{Max: 1 << 30}, [2]string{"follow", "multiple"}},
		{"narrower ones count", `{containerName: "*", minAllowed: {cpu: 200m}, maxAllowed: {cpu: 1, memory: 1Mi}}`, sizing.Range{Min: 200, Max: 1000}, sizing.Range{Max: 1 << 20}, [2]string{"follow", "multiple"}},
		{"wider ones do not", `{containerName: app, minAllowed: {cpu: 1m, memory: 1Mi}, maxAllowed: {cpu: 9, memory: 9Gi}}`, sizing.Range{Min: 100, Max: 2000}, sizing.Range{Min: 1 << 20, Max: 1 << 30}, [2]string{"follow", "multiple"}},
		{"others become the nearest bound", `{containerName: app, minAllowed: {cpu: 9, memory: 9Gi}}, {containerName: "*", minAllowed: {cpu: 300m}}`, sizing.Range{Min: 2000, Max: 2000}, sizing.Range{Min: 1 << 30, Max: 1 << 30}, [2]string{"follow", "multiple"}},
		{"a maximum below all becomes the nearest bound", `{containerName: app, maxAllowed: {cpu: 50m}}`, sizing.Range{Min: 100, Max: 100}, sizing.Range{Max: 1 << 30}, [2]string{"follow", "multiple"}},
		{"limits are kept", `{containerName: app, controlledValues: RequestsOnly}`, sizing.Range{Min: 100, Max: 2000}, sizing.Range{Max: 1 << 30}, [2]string{"keep", "keep"}},
		{"limits follow", `{containerName: app, controlledValues: RequestsAndLimits}`, sizing.Range{Min: 100, Max: 2000}, sizing.Range{Max: 1 << 30}, [2]string{"follow", "follow"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := tuning(t, "", "", policies(tc.list)).Policy
			over := p.Over(&d, "app")
			if b := over.BoundsOf("app"); b.CPU != tc.cpu || b.Memory != tc.memory {
				t.Errorf("bounds %v, want %v and %v", b, tc.cpu, tc.memory)
			}
			if over.CPU.Limit != tc.limits[0] || over.Memory.Limit != tc.limits[1] || over.From != policy.FromUsage || over.Mode != policy.Observe {
				t.Errorf("limits %s and %s, from %s, mode %s", over.CPU.Limit, over.Memory.Limit, over.From, over.Mode)
			}
		})
	}
}

func TestFollows(t *testing.T) {
	p := tuning(t, "", "", policies(`{containerName: "*", mode: "Off"}, {containerName: app, controlledResources: [cpu]}, {containerName: all}`)).Policy
	for name, want := range map[string][2]bool{"app": {true, false}, "all": {true, true}, "other": {false, false}} {
		if of := p.Of(name); of.Follows(sizing.CPU) != want[0] || of.Follows(sizing.Memory) != want[1] {
			t.Errorf("%s: %+v, want %v", name, of, want)
		}
	}
	if of := (&Policy{Containers: []Container{{Name: "*", Off: true}, {Name: "*"}}}).Of("app"); of.Off {
		t.Error("the first of two policies for every container counts, not the last")
	}
	if of := (&Policy{}).Of("app"); !of.Follows(sizing.CPU) || !of.Follows(sizing.Memory) {
		t.Error("without policies, all follows")
	}
}
