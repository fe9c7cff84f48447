package access

import "testing"

func TestNode(t *testing.T) {
	t.Run("reports the node that a caller is bound to", reportsTheNodeThatACallerIsBoundTo)
}

func reportsTheNodeThatACallerIsBoundTo(t *testing.T) {
	for name, tc := range map[string]struct {
		extra map[string][]string
		node  string
		bound bool
	}{
		"a user is bound to no node":                                  {nil, "", false},
		"a pod is bound to its node":                                  {map[string][]string{podNameKey: {"agent-x"}, nodeNameKey: {"mine"}}, "mine", true},
		"a pod whose node the API server does not report has no node": {map[string][]string{podNameKey: {"agent-x"}}, "", true},
		"a pod of several nodes has no node":                          {map[string][]string{nodeNameKey: {"mine", "other"}}, "", true},
		"other attributes do not bind a caller":                       {map[string][]string{"authentication.kubernetes.io/credential-id": {"a"}}, "", false},
	} {
		if node, bound := (Caller{Name: "ann", Extra: tc.extra}).Node(); node != tc.node || bound != tc.bound {
			t.Errorf("%s: %q, %v", name, node, bound)
		}
	}
}
