package config

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// reference returns the part of the reference below a heading.
func reference(t *testing.T, heading string) string {
	t.Helper()
	content, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	level, _, _ := strings.Cut(heading, " ")
	_, section, _ := strings.Cut(string(content), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n"+level+" ")
	return section
}

// examples returns the configurations in the reference.
func examples(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(reference(t, "## Configuration"), -1) {
		all = append(all, block[1])
	}
	return all
}

func TestReference(t *testing.T) {
	t.Run("accepts the examples of the reference", acceptsTheExamplesOfTheReference)
	t.Run("applies the rules of the reference as it describes", appliesTheRulesOfTheReferenceAsItDescribes)
	t.Run("guards pods as the reference describes", guardsPodsAsTheReferenceDescribes)
	t.Run("boosts pods as the reference describes", boostsPodsAsTheReferenceDescribes)
}

func acceptsTheExamplesOfTheReference(t *testing.T) {
	all := examples(t)
	if len(all) != 6 {
		t.Fatalf("%d examples, want 6", len(all))
	}
	for _, text := range all {
		if _, err := Parse([]byte(text), ratios.Provenance{}); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
}

func appliesTheRulesOfTheReferenceAsItDescribes(t *testing.T) {
	all := examples(t)
	layer, err := Parse([]byte(all[1]), ratios.Provenance{})
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
	text := examples(t)[3]
	layer, err := Parse([]byte(text), ratios.Provenance{})
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
	layer, err := Parse([]byte(examples(t)[4]), ratios.Provenance{})
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
