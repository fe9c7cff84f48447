package config

import (
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/test/docpage"
)

// example returns an example of the reference.
func example(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/examples/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// examples are the names of the examples of the reference.
var examples = []string{"ratios", "rules", "demand", "guard", "startup", "eviction", "pace", "work"}

// documented describes the keys of a configuration, in the order of the reference.
var documented = []struct{ keys, values, standard, meaning string }{
	{"baselineNodeType", "a node type", "", "the node type that requests are written for; required, and one of `nodeTypes`. That of a rule may also be a type of the globals"},
	{"nodeTypes", "node type, then `cpuPerf` and `memPerf`", "", "the performance of each node type, relative to the others: numbers above 0 without quotes, read as exact decimals. Rules may add types"},
	{"maxSpeedRatio", "from 1", strconv.Itoa(ratios.DefaultMaxSpeedRatio), "how many times faster or slower than the baseline a node type may be before its ratio is [implausible](#implausible-ratios)"},
	{"bounds", "[keys](#bounds)", "none", "the least and the most that a container requests, even if the factor is 1: of cpu from 1m to 10,000 cores, and of memory whole bytes from 1Mi to 1Pi. A `min` of 0 means none"},
	{"demand", "[keys](#demand)", "", "where the demand of pods comes from, and how it follows from usage"},
	{"guard", "[keys](#guard)", "", "when resizes are made, and how they are [observed and reverted](guard.md)"},
	{"startup", "[keys](#startup)", "none", "how much more cpu containers get while their pod starts"},
	{"eviction", "[keys](#eviction)", "none", "whether pods may be [evicted](../tasks/evict-pods.md) when their node has no room for what they need"},
	{"work", "[keys](#production)", "none", "how much work pods do, so that production can compare cpu per unit of work"},
	{"pace", "[keys](#pace)", "", "how quickly pods are resized that can wait. Rules cannot set it"},
	{"overload", "[keys](#overload)", "", "when nodes get a taint because they are overloaded. Rules cannot set it"},
	{"production", "[keys](#production)", "", "how the ratios are used that production shows. Rules cannot set it"},
	{"prices", "[keys](#demand)", "none", "what an hour of cpu and memory costs; only for display. Rules cannot set it"},
	{"overrides", "a list", "none", "rules with a `name`, which is unique, and a `match`: one or more of `namespace`, `computeClass`, `podLabel` and `podAnnotation`, all of which must hold. The first rule that matches a pod applies, and no other: these from top to bottom, then those of the next three keys"},
	{"podAnnotations", "annotation, then its value", "none", "rules by the value of an annotation of the pod, compared as text. Users who may patch pods can choose among such rules: protect the key with a policy"},
	{"podLabels", "label, then its value", "none", "the same for a label of the pod"},
	{"computeClasses", "compute class", "none", "rules by `cloud.google.com/compute-class` in the node selector of the pod"},
}

// documentKeys returns the table of keys of the reference.
func documentKeys() string {
	var rows [][]string
	for _, k := range documented {
		rows = append(rows, []string{"`" + k.keys + "`", k.values, k.standard, k.meaning})
	}
	return docpage.Table([]string{"Key", "Values", "Default", "Meaning"}, rows...)
}

func TestReference(t *testing.T) {
	t.Run("matches the code", matchesTheCode)
	t.Run("describes every key", describesEveryKey)
	t.Run("accepts the examples of the reference", acceptsTheExamplesOfTheReference)
	t.Run("applies the rules of the reference as it describes", appliesTheRulesOfTheReferenceAsItDescribes)
	t.Run("guards pods as the reference describes", guardsPodsAsTheReferenceDescribes)
	t.Run("boosts pods as the reference describes", boostsPodsAsTheReferenceDescribes)
}

func matchesTheCode(t *testing.T) {
	parts := map[string]string{"config.yaml": documentKeys()}
	for _, name := range examples {
		parts["example of "+name] = "```yaml\n" + string(example(t, name)) + "```\n"
	}
	docpage.Generated(t, "docs/reference/configuration.md", parts)
}

func describesEveryKey(t *testing.T) {
	known := new(section).known()
	maps.Copy(known, new(keys.Partial[policy.Cluster]).Known())
	for _, k := range documented {
		_, ofSection := known[k.keys]
		_, err := Parse([]byte(k.keys+": 1\n"), ratios.Provenance{})
		if !ofSection && (err == nil || strings.Contains(err.Error(), "unknown key")) {
			t.Errorf("%s is not a key of a configuration: %v", k.keys, err)
		}
		delete(known, k.keys)
	}
	for key := range known {
		t.Errorf("%s is not described", key)
	}
}

func acceptsTheExamplesOfTheReference(t *testing.T) {
	for _, name := range examples {
		if _, err := Parse(example(t, name), ratios.Provenance{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func appliesTheRulesOfTheReferenceAsItDescribes(t *testing.T) {
	layer, err := Parse(example(t, "rules"), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	critical := table.Profile(ratiotest.Subject{
		Labels: map[string]string{"env": "production"}, Annotations: map[string]string{"example.com/tier": "gold"}, Class: "Performance", In: "shop",
	})
	n4, _ := critical.Lookup("n4")
	n2d, _ := critical.Lookup("n2d")
	if critical.Name != "overrides[0] (critical)" || n4.CPUFactor != (sizing.Factor{Num: 13, Den: 12}) || n2d.CPUFactor != (sizing.Factor{Num: 13, Den: 10}) ||
		critical.Bounds != (policy.Bounds{CPU: sizing.Range{Min: 200, Max: 16000}, Memory: sizing.Range{Min: 64 << 20, Max: 32 << 30}}) {
		t.Errorf("critical pods have %+v, n4 %v, n2d %v", critical, n4, n2d)
	}
	encoder := table.Profile(ratiotest.Subject{Labels: map[string]string{"app.kubernetes.io/name": "encoder", "env": "test"}})
	if encoder.Name != `podLabels["app.kubernetes.io/name"].encoder` || encoder.Bounds != table.Bounds {
		t.Errorf("an encoder in test has %+v", encoder)
	}
	test := table.Profile(ratiotest.Subject{Labels: map[string]string{"env": "test"}})
	if test.Name != "podLabels.env.test" || test.Bounds.CPU != (sizing.Range{Max: 2000}) {
		t.Errorf("test pods have %+v", test)
	}
}

func guardsPodsAsTheReferenceDescribes(t *testing.T) {
	layer, err := Parse(example(t, "guard"), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	all, shop := table.Profile(ratiotest.Subject{}).Guard, table.Profile(ratiotest.Subject{In: "shop"}).Guard
	if all.Window != 10*time.Minute || all.Restarts != 2 || len(all.Schedule) != 0 || len(all.Objectives) != 1 {
		t.Errorf("all pods have %+v", all)
	}
	if shop.Window != 10*time.Minute || shop.Restarts != 3 {
		t.Errorf("the shop has %+v", shop)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for hour, open := range map[time.Time]bool{
		time.Date(2026, 7, 1, 23, 0, 0, 0, berlin): true, time.Date(2026, 7, 3, 3, 0, 0, 0, berlin): true, time.Date(2026, 7, 3, 23, 0, 0, 0, berlin): false,
		time.Date(2026, 7, 4, 12, 0, 0, 0, berlin): true, time.Date(2026, 7, 1, 12, 0, 0, 0, berlin): false,
	} {
		if shop.Schedule.Contains(hour) != open {
			t.Errorf("%s is open: %t", hour, !open)
		}
	}
}

func boostsPodsAsTheReferenceDescribes(t *testing.T) {
	layer, err := Parse(example(t, "startup"), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	java, others := table.Profile(ratiotest.Subject{Labels: map[string]string{"example.com/runtime": "java"}}), table.Profile(ratiotest.Subject{})
	n4, _ := java.Lookup("n4")
	needs := sizing.Amount{Request: java.Startup.CPU.Of(500, sizing.CPU.Most)}
	if gets, _ := sizing.CPU.Scale(needs, n4.CPUFactor, java.Bounds.CPU); gets.Request != 1200 || java.Startup.AfterReady != 10*time.Second || java.Startup.AtMost != 3*time.Minute || others.Startup.Boosts() {
		t.Errorf("a container that needs 500m gets %dm: %+v; others have %+v", gets.Request, java.Startup, others.Startup)
	}
}
