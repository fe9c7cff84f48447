package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
)

// overloadBy returns the default of what overload is, changed.
func overloadBy(change func(*policy.Overload)) policy.Overload {
	o := policy.Overload{
		Taint: policy.DefaultOverloadTaint, Effect: "PreferNoSchedule", CPU: 0.9, Memory: 0.95, Pressure: 0.6, Load: 3, For: 5 * time.Minute, MaxShare: 0.2,
	}
	change(&o)
	return o
}

func TestOverload(t *testing.T) {
	t.Run("reads the keys", func(t *testing.T) {
		for text, want := range map[string]policy.Overload{
			"":                          overloadBy(func(*policy.Overload) {}),
			"overload: {}":              overloadBy(func(*policy.Overload) {}),
			"overload: {enabled: true}": overloadBy(func(o *policy.Overload) { o.Enabled = true }),
			"overload: {cpu: 80%, memory: 0, pressure: 1, load: 0.5, for: 2m, maxShare: 5%}": overloadBy(func(o *policy.Overload) {
				o.CPU, o.Memory, o.Pressure, o.Load, o.For, o.MaxShare = 0.8, 0, 1, 0.5, 2*time.Minute, 0.05
			}),
			"overload: {taint: status-taint.cluster-autoscaler.kubernetes.io/overloaded, effect: NoSchedule}": overloadBy(func(o *policy.Overload) {
				o.Taint, o.Effect = "status-taint.cluster-autoscaler.kubernetes.io/overloaded", "NoSchedule"
			}),
			"overload: {taint: ignore-taint.cluster-autoscaler.kubernetes.io/overloaded}": overloadBy(func(o *policy.Overload) {
				o.Taint = "ignore-taint.cluster-autoscaler.kubernetes.io/overloaded"
			}),
			"overload: {cpu: 0, memory: 0, pressure: 0, load: 0}": overloadBy(func(o *policy.Overload) { o.CPU, o.Memory, o.Pressure, o.Load = 0, 0, 0, 0 }),
			"overload: {enabled: true, cpu: 0, memory: 0, pressure: 0}": overloadBy(func(o *policy.Overload) {
				o.Enabled, o.CPU, o.Memory, o.Pressure = true, 0, 0, 0
			}),
			"overload: {taint: notkubernetes.io/busy}": overloadBy(func(o *policy.Overload) { o.Taint = "notkubernetes.io/busy" }),
		} {
			layer, err := config.Parse([]byte(minimal+text), ratios.Provenance{})
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if diff := cmp.Diff(want, layer.Cluster.Complete().Overload); diff != "" {
				t.Errorf("%s: %s", text, diff)
			}
		}
	})
	t.Run("reports faults", func(t *testing.T) {
		const share, key, own = "must be a number from 0 to 1, such as 0.9 or 90%", "must be the key of a taint with a domain", "must not be a key of Kubernetes itself"
		for text, want := range map[string]string{
			"overload: {cpu: 101%}":                      "overload.cpu: line 3: " + share,
			"overload: {memory: -1}":                     "overload.memory: line 3: " + share,
			"overload: {pressure: NaN%}":                 "overload.pressure: line 3: " + share,
			"overload: {load: .inf}":                     "overload.load: line 3: must be a number from 0 to 100",
			"overload: {for: 59s}":                       "overload.for: line 3: must be a duration from 1m to 1h",
			"overload: {maxShare: 0}":                    "overload.maxShare: line 3: must be a number above 0",
			"overload: {effect: NoExecute}":              "overload.effect: line 3: must be one of PreferNoSchedule, NoSchedule",
			"overload: {taint: overloaded}":              "overload.taint: line 3: " + key,
			"overload: {taint: example.com/}":            "overload.taint: line 3: " + key,
			"overload: {taint: example.com/a b}":         "overload.taint: line 3: " + key,
			"overload: {taint: node.kubernetes.io/busy}": "overload.taint: line 3: " + own,
			"overload: {taint: kubernetes.io/busy}":      "overload.taint: line 3: " + own,
			"overload: {taint: a.k8s.io/busy}":           "overload.taint: line 3: " + own,
			"overload: {taint: startup-taint.cluster-autoscaler.kubernetes.io/workload-resizer}": "overload.taint: line 3: " + own,
			"overload: {enabled: true, cpu: 0, memory: 0, pressure: 0, load: 0}":                 "overload: line 3: enabled, but cpu, memory, pressure and load are all 0, so that no node can get the taint: set one of them above 0, or set enabled to false",
			"overload:\n  enabled: true\n  cpu: 0\n  memory: 0\n  pressure: 0%\n  load: 0":       "overload: line 4: enabled, but",
			"podLabels: {a: {b: {overload: {}}}}":                                                "podLabels.a.b.overload: line 3: applies to all pods",
		} {
			if _, err := config.Parse([]byte(minimal+text), ratios.Provenance{}); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
		}
	})
}
