package nodetype

import (
	"strings"
	"testing"
)

func TestModelRules(t *testing.T) {
	t.Run("truncates a type with its model to the maximum length", truncatesATypeWithItsModelToTheMaximumLength)
	t.Run("accepts a label value or two as a node type", acceptsALabelValueOrTwoAsANodeType)
}

func truncatesATypeWithItsModelToTheMaximumLength(t *testing.T) {
	long := strings.Repeat("a", 60)
	for _, tc := range []struct{ name, nodeType, model, want string }{
		{"joined", "e2", "Intel-6-79", "e2@Intel-6-79"},
		{"no model", "e2", "", "e2"},
		{"truncated to the maximum length", long, "Intel", long + "@In"},
		{"does not end with a separator", long, "I-7", long + "@I"},
		{"no room for any of the model", long + "aa", "Intel", long + "aa"},
		{"no room at all", long + "aaa", "Intel", long + "aaa"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := WithModel(tc.nodeType, tc.model)
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if problems := NameProblems(got); problems != nil {
				t.Errorf("%q: %v", got, problems)
			}
			if nodeType, model := SplitModel(got); nodeType != tc.nodeType || !strings.HasPrefix(tc.model, model) {
				t.Errorf("split into %q and %q", nodeType, model)
			}
		})
	}
}

func acceptsALabelValueOrTwoAsANodeType(t *testing.T) {
	for _, tc := range []struct {
		name string
		ok   bool
	}{
		{"n4", true}, {"Das_v5", true}, {"e2@Intel-6-79", true}, {"amd64@AMD-EPYC-7B13", true},
		{strings.Repeat("a", 63), true}, {strings.Repeat("a", 31) + "@" + strings.Repeat("b", 31), true},
		{"n 4", false}, {"-n4", false}, {"n4@", false}, {"@Intel", false}, {"@", false}, {"a@b@c", false},
		{"e2@-Intel", false}, {"e2-@Intel", false}, {"e2@Intel 6", false},
		{strings.Repeat("a", 64), false}, {strings.Repeat("a", 31) + "@" + strings.Repeat("b", 32), false},
	} {
		if problems := NameProblems(tc.name); (problems == nil) != tc.ok {
			t.Errorf("%q: %q, want it to be valid: %v", tc.name, problems, tc.ok)
		}
	}
}

func FuzzResolvedTypesAreNames(f *testing.F) {
	f.Add("n4", "Intel-6-143")
	f.Add(strings.Repeat("a", 62), "b")
	f.Add("a", "b-")
	f.Fuzz(func(t *testing.T, nodeType, model string) {
		if nodeType == "" || NameProblems(nodeType) != nil || strings.Contains(nodeType, modelSeparator) {
			return // Not a valid label value.
		}
		if model = ModelName(model); NameProblems(model) != nil {
			t.Fatalf("model %q: %v", model, NameProblems(model))
		}
		all := func(string) bool { return true }
		m, ok := New("").Resolve(map[string]string{LabelGCPMachineFamily: nodeType, LabelOwnCPUModel: model}, all)
		if !ok || NameProblems(m.NodeType) != nil || !strings.HasPrefix(m.NodeType, nodeType) {
			t.Errorf("%q with %q is %+v: %v", nodeType, model, m, NameProblems(m.NodeType))
		}
	})
}
