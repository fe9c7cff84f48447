package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

const minimal = "baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}}\n"

func TestDemand(t *testing.T) {
	t.Run("a rule has the values of the globals that it does not set", aRuleHasTheValuesOfTheGlobalsThatItDoesNotSet)
	t.Run("zero is a value", zeroIsAValue)
	t.Run("reports faults", reportsFaultsOfADemand)
	t.Run("reports a fault of the globals once", reportsAFaultOfTheGlobalsOnce)
	t.Run("reads prices", readsPrices)
}

func profile(t *testing.T, text string, of ratiotest.Subject) *ratios.Profile {
	t.Helper()
	layer, err := config.Parse([]byte(text), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	return table.Profile(of)
}

func aRuleHasTheValuesOfTheGlobalsThatItDoesNotSet(t *testing.T) {
	const text = minimal + `
demand:
  margin: 0.2
  cpu: {target: 0.95, max: "4", limit: none}
  memory: {limit: multiple, multiple: 3, headroom: 100Mi}
  containers: {app: {cpu: {min: 100m, max: "2"}}}
overrides:
- name: shop
  match: {namespace: shop}
  demand: {from: usage, mode: observe, cpu: {min: 50m, target: 0.9, wholeCores: true}, memory: {neverLower: true}, containers: {app: {cpu: {max: "1"}}, sidecar: {memory: {max: 1Gi}}}}
`
	globals := keys.Defaults[policy.Demand]()
	globals.Margin, globals.CPU.Target, globals.CPU.Bounds.Max, globals.CPU.Limit = 0.2, 0.95, 4000, "none"
	globals.Memory.Multiple, globals.Memory.Headroom = 3, 100<<20
	app := policy.Bounds{CPU: sizing.Range{Min: 100, Max: 2000}}
	sameDemand(t, globals, profile(t, text, ratiotest.Subject{In: "other"}).Demand, map[string]policy.Bounds{"app": app, "sidecar": {CPU: sizing.Range{Max: 4000}}})
	shop := globals
	shop.From, shop.Mode = policy.FromUsage, policy.Observe
	shop.CPU.Bounds.Min, shop.CPU.Target, shop.CPU.Whole, shop.Memory.Keep = 50, 0.9, true, true
	app.CPU.Max = 1000
	sidecar := policy.Bounds{CPU: sizing.Range{Min: 50, Max: 4000}, Memory: sizing.Range{Max: 1 << 30}}
	sameDemand(t, shop, profile(t, text, ratiotest.Subject{In: "shop"}).Demand, map[string]policy.Bounds{"app": app, "sidecar": sidecar})
}

// sameDemand compares demands, and the bounds of containers.
func sameDemand(t *testing.T, want, got policy.Demand, containers map[string]policy.Bounds) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(policy.Demand{}, "Containers")); diff != "" {
		t.Error(diff)
	}
	for name, bounds := range containers {
		if of := got.BoundsOf(name); of != bounds {
			t.Errorf("%s has the bounds %v, want %v", name, of, bounds)
		}
	}
}

func zeroIsAValue(t *testing.T) {
	d := profile(t, minimal+"demand: {margin: 0.3, cpu: {floor: 25m}}\noverrides: [{name: a, match: {namespace: a}, demand: {margin: 0, cpu: {floor: 0}}}]", ratiotest.Subject{In: "a"}).Demand
	if d.Margin != 0 || d.CPU.Floor != 0 {
		t.Errorf("margin %v, floor %v", d.Margin, d.CPU.Floor)
	}
}

func reportsFaultsOfADemand(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"no mode", "demand: {mode: later}", `demand.mode: line 4: must be one of observe, initial, apply, not "later"`},
		{"a source", "demand: {from: vpa}", `demand.from: line 4: must be one of author, usage, not "vpa"`},
		{"a policy", "demand: {policy: magic}", `demand.policy: line 4: must be one of usage, pressure, week, peak, shared, not "magic"`},
		{"a percentage", "demand: {cpu: {target: 90}}", `demand.cpu.target: line 4: must be a number above 0 and at most 1, such as 0.9, not "90"`},
		{"a duration", "demand: {minHistory: 24}", `demand.minHistory: line 4: must be a duration from 0d to 8d, such as 24h or 8d, not "24"`},
		{"more history than is kept", "demand: {minHistory: 9d}", `demand.minHistory: line 4: must be a duration from 0d to 8d, such as 24h or 8d, not "9d"`},
		{"the windows of memory peaks", "demand: {window: 12h, windows: 8}", "demand.window: line 4: no longer exists: remove it: history is kept for 8 days, in windows of a day; demand.windows: line 4: no longer exists: remove it: "},
		{"what a kill counts", "demand: {oomBump: 1.5, oomMinBump: 200Mi}", "demand.oomBump: line 4: no longer exists: remove it: a kill for lack of memory counts as 1.2 times the usage, and as at least 100Mi more; demand.oomMinBump: "},
		{"percentiles of the bounds", "demand: {memory: {lower: 0.4, upper: 0.99}}", "demand.memory.lower: line 4: no longer exists: remove it: the bounds follow the 50th and the 95th percentile; set target, margin, min or max; demand.memory.upper: "},
		{"a half-life", "demand: {cpu: {halfLife: 24h}}", "demand.cpu.halfLife: line 4: no longer exists: remove it: a sample loses half its weight in a day; resizectl backtest --half-life shows"},
		{"the confidence in bounds", "demand: {cpu: {confidence: 24h}}", "demand.cpu.confidence: line 4: no longer exists: remove it: the bounds are trusted after a day"},
		{"a memory limit that is removed", "demand: {memory: {limit: none}}", `demand.memory.limit: line 4: must be one of follow, keep, multiple, peak, not "none"`},
		{"bounds", "demand: {cpu: {min: 2, max: 1}}", "demand.cpu: line 4: min 2 > max 1"},
		{"bounds of a container", "demand: {containers: {app: {memory: {min: 2Gi, max: 1Gi}}}}", "demand.containers.app.memory: line 4: min 2Gi > max 1Gi, with the bounds of all containers"},
		{"bounds of a container and of all", "demand: {cpu: {min: 2}, containers: {app: {cpu: {max: 1}}}}", "demand.containers.app.cpu: line 4: min 2 > max 1, with the bounds of all containers"},
		{"bounds of a rule and of a container of the globals", "demand: {containers: {app: {cpu: {max: 1}}}}\npodLabels: {a: {b: {demand: {cpu: {min: 2}}}}}", "podLabels.a.b.demand.containers.app.cpu: line 5: min 2 > max 1, with the bounds of all containers"},
		{"a multiple of nothing", "demand: {cpu: {roundTo: 0}}", `demand.cpu.roundTo: line 4: "0" is too small; omit it for the default`},
		{"a container", "demand: {containers: {App: {}}}", "demand.containers.App: line 4: not valid on a pod: "},
		{"a flag", "demand: {memory: {neverLower: yes please}}", `demand.memory.neverLower: line 4: must be true or false, not "yes please"`},
		{"an unknown key", "demand: {cpu: {neverLower: true}}", "demand.cpu.neverLower: line 4: unknown key"},
		{"prices without a currency", "prices: {cpuCoreHour: 1, memoryGiBHour: 1}", "prices.currency: must be set, such as USD"},
		{"half a price", "prices: {currency: USD, cpuCoreHour: 1, memoryGiBHour: 1, nodeTypes: {n4: {cpuCoreHour: 1}}}", "prices.nodeTypes.n4: line 4: must set cpuCoreHour and memoryGiBHour"},
		{"prices of single node types only", "prices: {currency: USD, nodeTypes: {n4: {cpuCoreHour: 1, memoryGiBHour: 1}}}", "prices: line 4: must set cpuCoreHour and memoryGiBHour"},
		{"a node type without a name", `prices: {currency: USD, cpuCoreHour: 1, memoryGiBHour: 1, nodeTypes: {"": {cpuCoreHour: 1, memoryGiBHour: 1}}}`, "prices.nodeTypes[\"\"]: line 4: the name of a node type must not be empty"},
		{"a negative price", "prices: {currency: USD, cpuCoreHour: -1}", `prices.cpuCoreHour: line 4: must be a number from 0 to 1000000, the price of an hour, not "-1"`},
		{"an empty namespace", `overrides: [{name: a, match: {namespace: ""}, demand: {from: usage}}]`, `overrides[0].match.namespace: line 4: must be a non-empty string, not ""`},
		{"a namespace", `overrides: [{name: a, match: {namespace: a.b}, demand: {from: usage}}]`, "overrides[0].match.namespace: line 4: not valid on a pod: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := config.Parse([]byte(minimal+"\n"+tc.text), ratios.Provenance{})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func reportsAFaultOfTheGlobalsOnce(t *testing.T) {
	const text = minimal + "demand: {cpu: {min: 2, max: 1}, containers: {app: {memory: {min: 2Gi, max: 1Gi}}}}\npodLabels: {a: {b: {demand: {from: usage, cpu: {floor: 10m}}}}}"
	_, err := config.Parse([]byte(text), ratios.Provenance{})
	if err == nil || strings.Contains(err.Error(), "podLabels") {
		t.Error(err)
	}
}

func readsPrices(t *testing.T) {
	layer, err := config.Parse([]byte(minimal+"prices: {currency: USD, cpuCoreHour: 0.03, memoryGiBHour: 0.004, nodeTypes: {n4: {cpuCoreHour: 0.05, memoryGiBHour: 0}}}"), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{{}, layer})
	if err != nil {
		t.Fatal(err)
	}
	p := table.Prices
	var all []policy.Price
	for _, nodeType := range []string{"n2d", "n4", "n4@AMD-25-1"} {
		all = append(all, p.Of(nodeType))
	}
	n4 := policy.Price{CPU: 0.05}
	if want := []policy.Price{{CPU: 0.03, Memory: 0.004}, n4, n4}; p.Currency != "USD" || !slices.Equal(all, want) {
		t.Errorf("%s %v, want USD %v", p.Currency, all, want)
	}
}
