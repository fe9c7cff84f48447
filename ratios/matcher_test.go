package ratios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func TestMatcher(t *testing.T) {
	t.Run("uses the first rule whose criteria all match", usesTheFirstRuleWhoseCriteriaAllMatch)
	t.Run("compares which pods rules match regardless of their values", comparesWhichPodsRulesMatchRegardlessOfTheirValues)
	t.Run("finds a profile without allocating", findsAProfileWithoutAllocating)
}

func usesTheFirstRuleWhoseCriteriaAllMatch(t *testing.T) {
	table := merge(t, withRules(
		ratios.Rule{Name: "all", Match: policy.Criteria{ComputeClass: "Performance", Labels: map[string]string{"env": "production", "tier": "web"}, Annotations: map[string]string{"a": "b"}}},
		ratios.Rule{Name: "label", Match: policy.Criteria{Labels: map[string]string{"env": "production"}}},
		ratios.Rule{Name: "label again", Match: policy.Criteria{Labels: map[string]string{"env": "production"}}},
		ratios.Rule{Name: "annotation", Match: policy.Criteria{Annotations: map[string]string{"a": "b"}}},
		ratios.Rule{Name: "class", Match: policy.Criteria{ComputeClass: "Performance"}},
	))
	production, web := map[string]string{"env": "production", "more": "x"}, map[string]string{"env": "production", "tier": "web"}
	for _, tc := range []struct {
		name string
		pod  ratiotest.Subject
		want string
	}{
		{"a pod without labels, annotations and class gets the globals", ratiotest.Subject{}, ""},
		{"every criterion matches", ratiotest.Subject{Labels: web, Annotations: map[string]string{"a": "b"}, Class: "Performance"}, "all"},
		{"a label is missing", ratiotest.Subject{Labels: production, Annotations: map[string]string{"a": "b"}, Class: "Performance"}, "label"},
		{"an annotation is missing", ratiotest.Subject{Labels: web, Class: "Performance"}, "label"},
		{"the class differs", ratiotest.Subject{Labels: web, Annotations: map[string]string{"a": "b"}, Class: "Balanced"}, "label"},
		{"the first of two equal rules", ratiotest.Subject{Labels: production}, "label"},
		{"an annotation before a class, in the order of the rules", ratiotest.Subject{Annotations: map[string]string{"a": "b"}, Class: "Performance"}, "annotation"},
		{"labels do not match annotations", ratiotest.Subject{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"env": "production"}}, ""},
		{"a different value", ratiotest.Subject{Labels: map[string]string{"env": "Production"}}, ""},
		{"an empty value", ratiotest.Subject{Labels: map[string]string{"env": ""}}, ""},
		{"the class alone", ratiotest.Subject{Class: "Performance"}, "class"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := table.Profile(tc.pod).Name; got != tc.want {
				t.Errorf("profile %q, want %q", got, tc.want)
			}
		})
	}
	var names []string
	for _, p := range table.Profiles() {
		names = append(names, p.Name)
	}
	if want := []string{"", "all", "label", "label again", "annotation", "class"}; !slices.Equal(names, want) {
		t.Errorf("profiles %q, want %q", names, want)
	}
}

func comparesWhichPodsRulesMatchRegardlessOfTheirValues(t *testing.T) {
	all := func(class, label, annotation string) policy.Criteria {
		return policy.Criteria{ComputeClass: class, Labels: map[string]string{"env": label}, Annotations: map[string]string{"a": annotation}}
	}
	rules := func(matches ...policy.Criteria) *ratios.Table {
		var all []ratios.Rule
		for _, m := range matches {
			all = append(all, ratios.Rule{Match: m})
		}
		return merge(t, withRules(all...))
	}
	table := rules(all("c", "l", "n"), all("d", "l", "n"))
	for _, tc := range []struct {
		name  string
		other *ratios.Table
		want  bool
	}{
		{"the same rules", rules(all("c", "l", "n"), all("d", "l", "n")), true},
		{"a different name and ratio", merge(t, withRules(ratios.Rule{Name: "x", Match: all("c", "l", "n")},
			ratios.Rule{Match: all("d", "l", "n"), Ratios: map[string]ratios.Ratio{"n4": ratio(2, 1)}})), true},
		{"a different order", rules(all("d", "l", "n"), all("c", "l", "n")), false},
		{"a different class", rules(all("c", "l", "n"), all("e", "l", "n")), false},
		{"a different label", rules(all("c", "l", "n"), all("d", "x", "n")), false},
		{"a different annotation", rules(all("c", "l", "n"), all("d", "l", "x")), false},
		{"one rule more", rules(all("c", "l", "n"), all("d", "l", "n"), all("e", "l", "n")), false},
		{"one rule fewer", rules(all("c", "l", "n")), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if table.MatchesAs(tc.other) != tc.want || tc.other.MatchesAs(table) != tc.want {
				t.Errorf("MatchesAs: want %t", tc.want)
			}
		})
	}
}

func findsAProfileWithoutAllocating(t *testing.T) {
	table, pod := ruled(t, 50), policy.Subject(ratiotest.Subject{Labels: map[string]string{"app": "web"}, Class: "Performance"})
	if n := testing.AllocsPerRun(100, func() { table.Profile(pod) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// ruled returns a table with n rules that match no pod of the tests.
func ruled(t testing.TB, n int) *ratios.Table {
	var rules []ratios.Rule
	for i := range n {
		m := policy.Criteria{Labels: map[string]string{"app": fmt.Sprint("app-", i)}}
		if i%2 == 1 {
			m = policy.Criteria{Annotations: map[string]string{"example.com/size": strings.Repeat("x", i)}}
		}
		rules = append(rules, ratios.Rule{Name: fmt.Sprint(i), Match: m})
	}
	return merge(t, withRules(rules...))
}

func BenchmarkProfile(b *testing.B) {
	var pod policy.Subject = ratiotest.Subject{
		Labels:      map[string]string{"app": "web", "pod-template-hash": "6d4cf56db6", "env": "production"},
		Annotations: map[string]string{"example.com/size": "large"},
	}
	for _, n := range []int{0, 50} {
		b.Run(fmt.Sprintf("%d rules", n), func(b *testing.B) {
			table := ruled(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if table.Profile(pod).Name != "" {
					b.Fatal("a rule matched")
				}
			}
		})
	}
}
