package policy_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func TestGuardKeys(t *testing.T) {
	t.Run("a rule has the values of the globals that it does not set", aRuleHasTheGuardOfTheGlobalsThatItDoesNotSet)
	t.Run("every kind of rule can set it", everyKindOfRuleCanSetIt)
	t.Run("an empty list replaces that of the globals, a missing one does not", anEmptyListReplacesThatOfTheGlobals)
	t.Run("a share can be a percentage", aShareCanBeAPercentage)
	t.Run("a default reads as the reference shows it", aDefaultReadsAsTheReferenceShowsIt)
	t.Run("reports faults", reportsFaultsOfAGuard)
	t.Run("reports a fault of the globals once", reportsAFaultOfTheGlobalGuardOnce)
	t.Run("accepts values up to the limits", acceptsGuardsUpToTheLimits)
}

func window(t *testing.T, days schedule.Days, from, to schedule.Clock, zone string) schedule.Window {
	t.Helper()
	location, err := schedule.ParseZone(zone)
	if err != nil {
		t.Fatal(err)
	}
	w, err := schedule.New(days, from, to, location)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// sameSettings compares settings.
func sameSettings(t *testing.T, want, got policy.Guard) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(schedule.Window{})); diff != "" {
		t.Error(diff)
	}
}

func aRuleHasTheGuardOfTheGlobalsThatItDoesNotSet(t *testing.T) {
	const text = minimal + `
guard:
  enabled: true
  window: 10m
  restarts: 3
  unready: 90s
  cooldown: 30m
  maxUnproven: 20%
  maxChange: 30%
  disruptionBudgets: false
  breaker: false
  throttling: 0.4
  pressure: {cpu: 0.5, memory: 10%}
  memoryUse: 0.9
  objectives:
  - {name: errors, prometheus: "http://prometheus.monitoring:9090", query: 'sum by (namespace, pod) (rate(errors[1m]))', above: 0.01}
  - {name: requests, prometheus: https://prometheus.example.com/team, query: up, below: -2.5}
  schedule:
  - {days: [Mon-Thu, Sun], from: "22:00", to: 06:00, zone: Europe/Berlin}
  - {days: [Saturday]}
  - {to: 06:00}
  - {from: 22:00}
overrides:
- name: shop
  match: {namespace: shop}
  guard: {enabled: false, restarts: 1, maxUnproven: 7, maxChange: 0.5, disruptionBudgets: true, breaker: true, pressure: {memory: 0.3}, schedule: [{from: 12:00, to: 13:00}]}
`
	globals := policy.Guard{
		Enabled: true, Window: 10 * time.Minute, Restarts: 3, Unready: 90 * time.Second, Cooldown: 30 * time.Minute, MaxUnproven: intstr.FromString("20%"),
		MaxChange: 0.3, Throttling: 0.4, CPUPressure: 0.5, MemoryPressure: 0.1, MemoryUse: 0.9,
		Objectives: []policy.Objective{
			{Name: "errors", Prometheus: "http://prometheus.monitoring:9090", Query: "sum by (namespace, pod) (rate(errors[1m]))", Above: new(0.01)},
			{Name: "requests", Prometheus: "https://prometheus.example.com/team", Query: "up", Below: new(-2.5)},
		},
		Schedule: schedule.Schedule{
			window(t, 0b0011111, 22*60, 6*60, "Europe/Berlin"), window(t, 0b1000000, 0, schedule.Midnight, "UTC"),
			window(t, 0, 0, 6*60, "UTC"), window(t, 0, 22*60, schedule.Midnight, "UTC"),
		},
	}
	sameSettings(t, globals, profile(t, text, ratiotest.Subject{In: "other"}).Guard)
	shop := globals
	shop.Enabled, shop.Restarts, shop.MaxUnproven, shop.Breaker, shop.MemoryPressure = false, 1, intstr.FromInt32(7), true, 0.3
	shop.MaxChange, shop.DisruptionBudgets = 0.5, true
	shop.Schedule = schedule.Schedule{window(t, 0, 12*60, 13*60, "UTC")}
	sameSettings(t, shop, profile(t, text, ratiotest.Subject{In: "shop"}).Guard)
}

func everyKindOfRuleCanSetIt(t *testing.T) {
	const text = minimal + `
overrides: [{name: a, match: {namespace: a}, guard: {restarts: 11}}]
podAnnotations: {a: {b: {guard: {restarts: 12}}}}
podLabels: {a: {b: {guard: {restarts: 13}}}}
computeClasses: {c: {guard: {restarts: 14}}}
`
	of := map[string]string{"a": "b"}
	for want, pod := range map[int]ratiotest.Subject{2: {}, 11: {In: "a"}, 12: {Annotations: of}, 13: {Labels: of}, 14: {Class: "c"}} {
		if got := profile(t, text, pod).Guard.Restarts; got != want {
			t.Errorf("%+v: %d restarts, want %d", pod, got, want)
		}
	}
}

func anEmptyListReplacesThatOfTheGlobals(t *testing.T) {
	const text = minimal + `
guard: {schedule: [{to: 06:00}], objectives: [{name: a, prometheus: http://a, query: a, above: 1}]}
podLabels:
  a:
    empty: {guard: {schedule: [], objectives: []}}
    missing: {guard: {schedule: , objectives: }, demand: {from: usage}}
`
	for value, want := range map[string]int{"empty": 0, "missing": 1} {
		s := profile(t, text, ratiotest.Subject{Labels: map[string]string{"a": value}}).Guard
		if len(s.Schedule) != want || len(s.Objectives) != want {
			t.Errorf("%s: %d windows and %d objectives, want %d", value, len(s.Schedule), len(s.Objectives), want)
		}
	}
}

func aShareCanBeAPercentage(t *testing.T) {
	for text, want := range map[string]float64{"10%": 0.1, `"15%"`: 0.15, "100%": 1, "2.5%": 0.025, "1": 1, "1e-2": 0.01} {
		if got := profile(t, minimal+"guard: {throttling: "+text+"}", ratiotest.Subject{}).Guard.Throttling; got != want {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

func aDefaultReadsAsTheReferenceShowsIt(t *testing.T) {
	read := 0
	for _, k := range keys.Declared[policy.Guard]() {
		if !regexp.MustCompile(`^(true|false|[\d.]+[smhd%]?)$`).MatchString(k.Default) {
			continue
		}
		read++
		key := k.Name + ": " + k.Default
		if above, below, ok := strings.Cut(k.Name, "."); ok {
			key = above + ": {" + below + ": " + k.Default + "}"
		}
		sameSettings(t, keys.Defaults[policy.Guard](), profile(t, minimal+"guard: {"+key+"}", ratiotest.Subject{}).Guard)
	}
	if read != 13 {
		t.Errorf("%d keys have a number or a flag as their default, want 13", read)
	}
}

// objective returns a guard with an objective that has more keys than those that it must have.
func objective(more string) string {
	return "guard: {objectives: [{name: a, prometheus: http://a, query: up, " + more + "}]}"
}

func reportsFaultsOfAGuard(t *testing.T) {
	const name = "{prometheus: http://a, query: up, above: 1, name: "
	const share = "must be a number above 0 and at most 1, such as 0.1 or 10%"
	const pods = "must be a whole number from 1 to 150000 or a percentage from 1% to 100%, such as 3 or 10%"
	for _, tc := range []struct{ name, text, want string }{
		{"a list", "guard: []", "guard: line 4: must be a mapping, not a list"},
		{"an unknown key", "guard: {timeout: 1m}", "guard.timeout: line 4: unknown key"},
		{"a key that no longer exists", "guard: {keepSingletonLimits: true}", `guard.keepSingletonLimits: line 4: no longer exists: remove it; to keep the size of a workload with one pod, annotate its pods with workload-resizer.io/skip: "true"`},
		{"a flag", "guard: {enabled: maybe}", `guard.enabled: line 4: must be true or false, not "maybe"`},
		{"a short window", "guard: {window: 29s}", `guard.window: line 4: must be a duration from 30s to 1d, such as 90s or 5m, not "29s"`},
		{"a long window", "guard: {window: 25h}", `guard.window: line 4: must be a duration from 30s to 1d, such as 90s or 5m, not "25h"`},
		{"a number", "guard: {cooldown: 10}", `guard.cooldown: line 4: must be a duration from 1m to 1d, such as 90s or 5m, not "10"`},
		{"a short time", "guard: {unready: 4s}", `guard.unready: line 4: must be a duration from 5s to 1h, such as 90s or 5m, not "4s"`},
		{"a window that ends before a pod is not ready for too long", "guard: {unready: 90s, window: 90s}", "guard: line 4: unready 1m30s is not shorter than window 1m30s: set both"},
		{"the same, with the default", "guard: {window: 1m}", "guard: line 4: unready 1m is not shorter than window 1m: set both"},
		{"the same, with the globals", "guard: {unready: 10m, window: 1h}\npodLabels: {a: {b: {guard: {window: 10m}}}}", "podLabels.a.b.guard: line 5: unready 10m is not shorter than window 10m: set both"},
		{"no restart", "guard: {restarts: 0}", `guard.restarts: line 4: must be a whole number from 1 to 100, such as 2, not "0"`},
		{"part of a restart", "guard: {restarts: 1.5}", `guard.restarts: line 4: must be a whole number from 1 to 100, such as 2, not "1.5"`},
		{"no pods", "guard: {maxUnproven: 0}", "guard.maxUnproven: line 4: " + pods + `, not "0"`},
		{"no percentage of the pods", "guard: {maxUnproven: 0%}", "guard.maxUnproven: line 4: " + pods + `, not "0%"`},
		{"more pods than a cluster has", "guard: {maxUnproven: 150001}", "guard.maxUnproven: line 4: " + pods + `, not "150001"`},
		{"part of a pod", "guard: {maxUnproven: 0.1}", "guard.maxUnproven: line 4: " + pods + `, not "0.1"`},
		{"part of a percent of the pods", "guard: {maxUnproven: 2.5%}", "guard.maxUnproven: line 4: " + pods + `, not "2.5%"`},
		{"more than all pods", "guard: {maxUnproven: 101%}", "guard.maxUnproven: line 4: " + pods + `, not "101%"`},
		{"a percentage without a number", "guard: {maxUnproven: a%}", "guard.maxUnproven: line 4: " + pods + `, not "a%"`},
		{"a quoted number of pods", `guard: {maxUnproven: "3"}`, "guard.maxUnproven: line 4: " + pods + ", not a string: write 3 without quotes"},
		{"canaries", "guard: {canary: 5%}", "guard.canary: line 4: no longer exists: use guard.maxUnproven, such as 10%"},
		{"pods of a workload or of a node", "guard: {maxPods: {workload: 3, node: 2}}", "guard.maxPods: line 4: no longer exists: use guard.maxUnproven, such as 3, which limits the pods of a workload until the size has proven itself; nothing limits those of a node"},
		{"no change", "guard: {maxChange: 0}", "guard.maxChange: line 4: " + share + `, not "0"`},
		{"budgets", "guard: {disruptionBudgets: 1}", `guard.disruptionBudgets: line 4: must be true or false, not "1"`},
		{"a share of nothing", "guard: {throttling: 0}", "guard.throttling: line 4: " + share + `, not "0"`},
		{"more than all", "guard: {memoryUse: 1.1}", "guard.memoryUse: line 4: " + share + `, not "1.1"`},
		{"a percentage without its sign", "guard: {pressure: {cpu: 60}}", "guard.pressure.cpu: line 4: " + share + `, not "60"`},
		{"a quoted number", `guard: {pressure: {memory: "0.2"}}`, "guard.pressure.memory: line 4: " + share + ", not a string: write 0.2 without quotes"},
		{"a large percentage", "guard: {throttling: 101%}", "guard.throttling: line 4: " + share + `, not "101%"`},
		{"a percentage of nothing", "guard: {throttling: 0%}", "guard.throttling: line 4: " + share + `, not "0%"`},
		{"not a percentage", "guard: {memoryUse: many%}", "guard.memoryUse: line 4: " + share + `, not "many%"`},
		{"not a number in percent", "guard: {memoryUse: nan%}", "guard.memoryUse: line 4: " + share + `, not "nan%"`},
		{"the pressure of something else", "guard: {pressure: {io: 0.5}}", "guard.pressure.io: line 4: unknown key"},
		{"an objective without its keys", "guard: {objectives: [{above: 1}]}", "guard.objectives[0].name: must be set; guard.objectives[0].prometheus: must be set; guard.objectives[0].query: must be set"},
		{"an empty objective", "guard: {objectives: [~]}", "guard.objectives[0].name: must be set; "},
		{"no threshold", objective(""), "guard.objectives[0]: line 4: must set either above or below"},
		{"two thresholds", objective("above: 1, below: 0"), "guard.objectives[0]: line 4: must set either above or below"},
		{"an infinite threshold", objective("above: .inf"), `guard.objectives[0].above: line 4: must be a finite number, not ".inf"`},
		{"a threshold that is not a number", objective("below: .nan"), `guard.objectives[0].below: line 4: must be a finite number, not ".nan"`},
		{"a name", "guard: {objectives: [" + name + "A}]}", "guard.objectives[0].name: line 4: not a valid name: a lowercase RFC 1123 label must consist of"},
		{"the same name", "guard: {objectives: [" + name + "a}, " + name + "a}]}", `guard.objectives[1].name: line 4: "a" is already the name of an objective`},
		{"an empty query", `guard: {objectives: [{name: a, prometheus: http://a, query: "", above: 1}]}`, `guard.objectives[0].query: line 4: must be a non-empty string, not ""`},
		{"a place that is not a URL", "guard: {objectives: [{name: a, prometheus: prometheus:9090, query: up, above: 1}]}", "guard.objectives[0].prometheus: line 4: must be an http or https URL with a host, and without a query (?) and a fragment (#)"},
		{"a URL with a query", "guard: {objectives: [{name: a, prometheus: 'http://a?b=c', query: up, above: 1}]}", "guard.objectives[0].prometheus: line 4: must be an http or https URL with a host, and without a query (?) and a fragment (#)"},
		{"a URL with a password", "guard: {objectives: [{name: a, prometheus: 'http://ann:secret@a', query: up, above: 1}]}", "guard.objectives[0].prometheus: line 4: must not contain a user or a password: everyone who reads the configuration would see them"},
		{"a URL without a host", "guard: {objectives: [{name: a, prometheus: 'http://:9090', query: up, above: 1}]}", "guard.objectives[0].prometheus: line 4: must be an http or https URL"},
		{"an unknown key of an objective", objective("above: 1, for: 1m"), "guard.objectives[0].for: line 4: unknown key"},
		{"an unknown zone", "guard: {schedule: [{to: 06:00, zone: Europe/Bärlin}]}", `guard.schedule[0].zone: line 4: must be the name of a time zone in the IANA database, such as Europe/Berlin or UTC, not "Europe/Bärlin"`},
		{"the zone of the machine", "guard: {schedule: [{to: 06:00, zone: Local}]}", "guard.schedule[0].zone: line 4: must be the name of a time zone in the IANA database"},
		{"an empty zone", "guard: {schedule: [{to: 06:00, zone: }]}", "guard.schedule[0].zone: line 4: must be the name of a time zone in the IANA database, such as Europe/Berlin or UTC, not an empty value"},
		{"a day", "guard: {schedule: [{days: [Mo-Fr]}]}", `guard.schedule[0].days[0]: line 4: must be a day or a range of days, such as Mon, Monday or Mon-Fri, not "Mo-Fr"`},
		{"days that are not a list", "guard: {schedule: [{days: Mon-Fri}]}", `guard.schedule[0].days: line 4: must be a list, not "Mon-Fri"`},
		{"no day", "guard: {schedule: [{days: [], to: 06:00}]}", "guard.schedule[0].days: line 4: must have a day; omit it for all days"},
		{"a time of day", "guard: {schedule: [{from: 9am}]}", `guard.schedule[0].from: line 4: must be a time from 00:00 to 24:00, not "9am"`},
		{"no time", "guard: {schedule: [{from: 06:00, to: 06:00}]}", "guard.schedule[0]: line 4: from and to must differ: for whole days, use 00:00 and 24:00"},
		{"a start at the end of a day", "guard: {schedule: [{from: 24:00, to: 06:00}]}", "guard.schedule[0]: line 4: from must be before 24:00: use 00:00, and the next day"},
		{"an empty window", "guard: {schedule: [{}]}", "guard.schedule[0]: line 4: sets no time: add days, from or to; a schedule without windows is always open"},
		{"only a zone", "guard: {schedule: [{zone: Europe/Berlin}]}", "guard.schedule[0]: line 4: sets no time: add days, from or to; a schedule without windows is always open"},
		{"a rule that sets nothing", "podLabels: {a: {b: {guard: {schedule: }}}}", "podLabels.a.b: line 4: sets nothing: add baselineNodeType, nodeTypes, bounds, maxSpeedRatio, demand, guard, startup, eviction or work"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := config.Parse([]byte(minimal+"\n"+tc.text), ratios.Provenance{})
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func reportsAFaultOfTheGlobalGuardOnce(t *testing.T) {
	_, err := config.Parse([]byte(minimal+"guard: {unready: 10m, window: 5m}\npodLabels: {a: {b: {guard: {restarts: 3}}}}"), ratios.Provenance{})
	if err == nil || strings.Contains(err.Error(), "podLabels") {
		t.Error(err)
	}
}

func acceptsGuardsUpToTheLimits(t *testing.T) {
	objectives := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("{name: a%d, prometheus: http://a, query: up, above: 1}, ", i)
		}
		return "objectives: [" + text + "]"
	}
	windows := func(n int) string { return "schedule: [" + strings.Repeat("{to: 06:00}, ", n) + "]" }
	for text, want := range map[string]string{
		"window: 30s, unready: 5s": "", "window: 24h, unready: 1h": "", "cooldown: 1m": "", "cooldown: 1d": "", "restarts: 1": "", "restarts: 100": "",
		"throttling: 1": "", "maxUnproven: 1": "", "maxUnproven: 150000": "", "maxUnproven: 1%": "", "maxUnproven: 100%": "", "pressure: {cpu: 100%}": "", "memoryUse: 1.01": "guard.memoryUse: ",
		"cooldown: 59s": "guard.cooldown: ", "restarts: 101": "guard.restarts: ", "unready: 61m": "guard.unready: ",
		objectives(10): "", objectives(11): "guard.objectives: line 3: has 11 objectives, but must have at most 10",
		windows(20): "", windows(21): "guard.schedule: line 3: has 21 windows, but must have at most 20",
	} {
		_, err := config.Parse([]byte(minimal+"guard: {"+text+"}"), ratios.Provenance{})
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %s", text, err, want)
		}
	}
}
