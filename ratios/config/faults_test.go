package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/ratios"
)

func TestFaults(t *testing.T) {
	t.Run("reports every fault of a rule with its path first", reportsEveryFaultOfARuleWithItsPathFirst)
	t.Run("limits aliases of aliases", limitsAliasesOfAliases)
}

func reportsEveryFaultOfARuleWithItsPathFirst(t *testing.T) {
	const notLabelValue = "not valid on a pod: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
		"and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	const notLabelKey = "not valid on a pod: name part must consist of alphanumeric characters, '-', '_' or '.', " +
		"and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	for _, tc := range []struct {
		name, rules string
		want        []string
	}{
		{"overrides are a list", "overrides: {}", []string{"overrides: line 10: must be a list, not a mapping"}},
		{"an override is a mapping", "overrides: [a]", []string{`overrides[0]: line 10: must be a mapping, not "a"`, "overrides[0].name: must be set", "overrides[0].match: must be set"}},
		{"a name is required", "overrides: [{match: {computeClass: a}, baselineNodeType: n4}]", []string{"overrides[0].name: must be set"}},
		{"a name is not empty", `overrides: [{name: "", match: {computeClass: a}, baselineNodeType: n4}]`, []string{`overrides[0].name: line 10: must be a non-empty string, not ""`}},
		{"names are unique", "overrides:\n- {name: a, match: {computeClass: a}, baselineNodeType: n4}\n- {name: a, match: {computeClass: b}, baselineNodeType: n4}",
			[]string{`overrides[1].name: line 12: "a" is already the name of overrides[0]`}},
		{"a match is required", "overrides: [{name: a, baselineNodeType: n4}]", []string{"overrides[0].match: must be set"}},
		{"a match names a criterion", "overrides: [{name: a, baselineNodeType: n4, match: {podLabel: {}, podAnnotation: }}]",
			[]string{"overrides[0].match: line 10: must set namespace, computeClass, podLabel or podAnnotation"}},
		{"a match has no other criteria", "overrides: [{name: a, baselineNodeType: n4, match: {nodeName: x}}]", []string{"overrides[0].match.nodeName: line 10: unknown key"}},
		{"a rule has no other keys", "podLabels: {env: {test: {baseline: n4}}}", []string{"podLabels.env.test.baseline: line 10: unknown key"}},
		{"only overrides have a match", "computeClasses: {a: {baselineNodeType: n4, match: {computeClass: b}}}", []string{"computeClasses.a.match: line 10: unknown key"}},
		{"keys are not empty", `podLabels: {"": {"": {baselineNodeType: n4}}}`, []string{`podLabels[""]: line 10: must not be empty`}},
		{"keys of annotations are not empty", `podAnnotations: {"": {"": {baselineNodeType: n4}}}`, []string{`podAnnotations[""]: line 10: must not be empty`}},
		{"classes are not empty", `computeClasses: {"": {baselineNodeType: n4}}`, []string{`computeClasses[""]: line 10: must not be empty`}},
		{"criteria are not empty", `overrides: [{name: a, baselineNodeType: n4, match: {computeClass: "", podLabel: {"": a, a: ""}, podAnnotation: {"": a, a: }}}]`,
			[]string{`overrides[0].match.computeClass: line 10: must be a non-empty string, not ""`, `overrides[0].match.podAnnotation.a: line 10: must be a string, not an empty value`, `overrides[0].match.podAnnotation[""]: line 10: must not be empty`,
				`overrides[0].match.podLabel[""]: line 10: must not be empty`}},
		{"label keys and values have their syntax", "podLabels: {a b: {-c: {baselineNodeType: n4}}}", []string{`podLabels["a b"]: line 10: ` + notLabelKey, `podLabels["a b"].-c: line 10: ` + notLabelValue}},
		{"annotation keys have their syntax", "podAnnotations: {a b: {-c: {baselineNodeType: n4}}}", []string{`podAnnotations["a b"]: line 10: ` + notLabelKey}},
		{"classes are label values", "computeClasses: {-c: {baselineNodeType: n4}}", []string{"computeClasses.-c: line 10: " + notLabelValue}},
		{"criteria have the syntax of labels", "overrides: [{name: a, baselineNodeType: n4, match: {computeClass: -c, podLabel: {a b: -c}, podAnnotation: {a b: -c}}}]",
			[]string{"overrides[0].match.computeClass: line 10: " + notLabelValue, `overrides[0].match.podAnnotation["a b"]: line 10: ` + notLabelKey,
				`overrides[0].match.podLabel["a b"]: line 10: ` + notLabelKey, `overrides[0].match.podLabel["a b"]: line 10: ` + notLabelValue}},
		{"a rule sets something", "overrides: [{name: a, match: {computeClass: a}}]\npodLabels: {a: {b: {nodeTypes: {}, bounds: {cpu: {}}}}}\ncomputeClasses: {c: }",
			[]string{"computeClasses.c: line 12: sets nothing: add baselineNodeType, nodeTypes, bounds, maxSpeedRatio, demand, guard, startup, eviction or work", "overrides[0]: line 10: sets nothing: add baselineNodeType, nodeTypes, bounds, maxSpeedRatio, demand, guard, startup, eviction or work",
				"podLabels.a.b: line 11: sets nothing: add baselineNodeType, nodeTypes, bounds, maxSpeedRatio, demand, guard, startup, eviction or work"}},
		{"a label has a rule", "podLabels: {a.b: {}, c: }", []string{`podLabels["a.b"]: line 10: has no rule: add a value with baselineNodeType, nodeTypes, bounds, maxSpeedRatio, demand, guard, startup, eviction or work`,
			"podLabels.c: line 10: has no rule: add a value with baselineNodeType, nodeTypes, bounds, maxSpeedRatio, demand, guard, startup, eviction or work"}},
		{"a rule is set once", "podLabels: {a: {b: {baselineNodeType: n4}, b: {baselineNodeType: c3}}}", []string{"podLabels.a.b: line 10: set twice"}},
		{"the baseline is a node type of the rule or the globals", "podLabels: {a: {b: {baselineNodeType: e2, nodeTypes: {e3: {cpuPerf: 1, memPerf: 1}}}, c: {baselineNodeType: e3}}}",
			[]string{`podLabels.a.b.baselineNodeType: line 10: "e2" is not one of the nodeTypes of the rule or the globals`, `podLabels.a.c.baselineNodeType: line 10: "e3" is not one of the nodeTypes of the rule or the globals`}},
		{"both performances are set, finite and above 0", "computeClasses: {a: {nodeTypes: {n4: {cpuPerf: 0, memPerf: .inf}, c3: {cpuPerf: 1}}}}",
			[]string{"computeClasses.a.nodeTypes.c3.memPerf: must be set", `computeClasses.a.nodeTypes.n4.cpuPerf: line 10: must be a finite number above 0, not "0"`, `computeClasses.a.nodeTypes.n4.memPerf: line 10: must be a finite number above 0, not ".inf"`}},
		{"numbers are not quoted", "maxSpeedRatio: '6'\ncomputeClasses: {a: {maxSpeedRatio: \"6.5\", nodeTypes: {n4: {cpuPerf: \"1.25\", memPerf: '0'}, c3: {cpuPerf: \"1.x\", memPerf: \"1e0\"}}}}",
			[]string{`computeClasses.a.maxSpeedRatio: line 11: must be a finite number of at least 1, such as 5, not a string: write 6.5 without quotes`,
				`computeClasses.a.nodeTypes.c3.cpuPerf: line 11: must be a finite number above 0, not "1.x"`, `computeClasses.a.nodeTypes.c3.memPerf: line 11: must be a finite number above 0, not a string: write 1e0 without quotes`,
				`computeClasses.a.nodeTypes.n4.cpuPerf: line 11: must be a finite number above 0, not a string: write 1.25 without quotes`, `computeClasses.a.nodeTypes.n4.memPerf: line 11: must be a finite number above 0, not "0"`,
				`maxSpeedRatio: line 10: must be a finite number of at least 1, such as 5, not a string: write 6 without quotes`}},
		{"min is at most max", "computeClasses: {a: {bounds: {cpu: {min: 2, max: 1}, memory: {min: 1Gi, max: 1Mi}}}}", []string{"computeClasses.a.bounds.cpu: line 10: min 2 > max 1", "computeClasses.a.bounds.memory: line 10: min 1Gi > max 1Mi"}},
		{"min is at most max, although both round to the same amount", "computeClasses: {a: {bounds: {cpu: {min: 1500u, max: 1200u}}}}", []string{"computeClasses.a.bounds.cpu: line 10: min 2m > max 1m"}},
		{"min is at most the global max", "computeClasses: {a: {bounds: {cpu: {min: 17}, memory: {min: 33Gi}}}}", []string{"computeClasses.a.bounds.cpu: line 10: min 17 > global max 16", "computeClasses.a.bounds.memory: line 10: min 33Gi > global max 32Gi"}},
		{"max is at least the global min", "computeClasses: {a: {bounds: {cpu: {max: 49m}, memory: {max: 63Mi}}}}", []string{"computeClasses.a.bounds.cpu: line 10: global min 50m > max 49m", "computeClasses.a.bounds.memory: line 10: global min 64Mi > max 63Mi"}},
		{"bounds are quantities", "computeClasses: {a: {bounds: {cpu: {min: 1 core}}}}", []string{`computeClasses.a.bounds.cpu.min: line 10: must be a quantity such as "50m" or "64Mi", not "1 core"`}},
		{"all together", "overrides: [{name: a, match: {}}]\npodLabels: {a: {b: {baselineNodeType: e2}}}\nclasses: {}",
			[]string{"classes: line 12: unknown key", "overrides[0].match: line 10: must set namespace, computeClass, podLabel or podAnnotation", "overrides[0]: line 10: sets nothing: add baselineNodeType, nodeTypes, bounds, maxSpeedRatio, demand, guard, startup, eviction or work",
				`podLabels.a.b.baselineNodeType: line 11: "e2" is not one of the nodeTypes of the rule or the globals`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			layer, err := Parse([]byte(published+tc.rules), ratios.Provenance{})
			got, ok := errors.AsType[Faults](err)
			if !ok {
				t.Fatalf("accepted as %+v, error %v", layer, err)
			}
			slices.Sort(got)
			slices.Sort(tc.want)
			if diff := cmp.Diff(tc.want, []string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func limitsAliasesOfAliases(t *testing.T) {
	// A thousand labels with a thousand values with a thousand node types.
	keys := func(of string) string {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "k%d: %s, ", i, of)
		}
		return "{" + b.String() + "}"
	}
	_, err := Parse([]byte(published+"computeClasses:\n  a: &rule { nodeTypes: "+keys("{cpuPerf: 1, memPerf: 1}")+" }\n"+
		"podAnnotations:\n  a: &values "+keys("*rule")+"\npodLabels: "+keys("*values")), ratios.Provenance{})
	if want := "more than 99999 entries, aliases followed"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
