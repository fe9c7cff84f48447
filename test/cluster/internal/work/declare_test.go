package work

import (
	"strings"
	"testing"
	"time"
)

func TestDeclared(t *testing.T) {
	annotations := map[string]string{"work.testcluster.local/app": "cpu: 100m", "work.testcluster.local/bad": "cpu: much"}
	rules := []Rule{
		{"shop/web-*/*", "cpu: 200m"},
		{"shop/*/db", "cpu: 300m"},
		{"shop/web-*/db", "cpu: 400m"},
	}
	for _, test := range []struct {
		name                      string
		namespace, pod, container string
		want                      float64
	}{
		{"the annotation of the pod comes first", "shop", "web-1", "app", 0.1},
		{"the first rule that matches counts", "shop", "web-1", "db", 0.2},
		{"a pattern matches any part of a name", "shop", "api-1", "db", 0.3},
	} {
		t.Run(test.name, func(t *testing.T) {
			work, err := Declared(test.namespace, test.pod, test.container, annotations, rules)
			if err != nil {
				t.Fatal(err)
			}
			if got := work.Start(noon, 1, 0).Cores(noon); got != test.want {
				t.Errorf("got %g cores, want %g", got, test.want)
			}
		})
	}
	t.Run("a container without a declaration has none", func(t *testing.T) {
		if work, err := Declared("other", "web-1", "db", annotations, rules); work != nil || err != nil {
			t.Errorf("got %v, %v", work, err)
		}
	})
	t.Run("an error names the annotation", func(t *testing.T) {
		const want = "annotation work.testcluster.local/bad: "
		if _, err := Declared("shop", "web-1", "bad", annotations, rules); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q…", err, want)
		}
	})
}

func TestRuleCheck(t *testing.T) {
	for pattern, want := range map[string]string{
		"shop/web-*/app": "",
		"shop/web":       "is not NAMESPACE/POD/CONTAINER",
		"shop/[/app":     "syntax error in pattern",
	} {
		t.Run(pattern, func(t *testing.T) {
			err := Rule{Pattern: pattern, Text: "cpu: 1"}.Check()
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	t.Run("the work of a rule must be valid", func(t *testing.T) {
		if err := (Rule{Pattern: "a/b/c", Text: "cpu: much"}).Check(); err == nil {
			t.Error("got no error")
		}
	})
}

func TestClock(t *testing.T) {
	monday := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	clock := Clock{Wall: noon, Shows: monday, Scale: 60}
	if got := clock.At(noon.Add(time.Minute)); !got.Equal(monday.Add(time.Hour)) {
		t.Errorf("after a minute, a clock that is 60 times faster shows %v", got)
	}
	if got := (Clock{Wall: noon, Shows: noon}).At(noon.Add(time.Minute)); !got.Equal(noon.Add(time.Minute)) {
		t.Errorf("a clock without a scale shows %v", got)
	}
	t.Run("the fastest clock of the last year does not overflow in a week", func(t *testing.T) {
		clock := Clock{Wall: noon, Shows: time.Date(2069, 12, 31, 0, 0, 0, 0, time.UTC), Scale: 10_000}
		run := mustParse(t, `cpu: [{series: ["1", "2"], step: 24h}]`).Start(noon, 1, 0)
		before := clock.At(noon.Add(7 * 24 * time.Hour))
		if year := before.Year(); year != 2261 || run.Cores(before)+run.Cores(before.Add(24*time.Hour)) != 3 {
			t.Errorf("it shows %v", before)
		}
	})
}
