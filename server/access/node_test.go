package access

import "testing"

func TestNode(t *testing.T) {
	t.Run("which node a caller is bound to", whichNodeACallerIsBoundTo)
}

func whichNodeACallerIsBoundTo(t *testing.T) {
	for name, tc := range map[string]struct {
		extra map[string][]string
		node  string
		bound bool
	}{
		"a person is bound to no node":                            {nil, "", false},
		"a pod is bound to its node":                              {map[string][]string{podNameKey: {"agent-x"}, nodeNameKey: {"mine"}}, "mine", true},
		"a pod whose node the API server does not tell has none":  {map[string][]string{podNameKey: {"agent-x"}}, "", true},
		"a pod of several nodes has none":                         {map[string][]string{nodeNameKey: {"mine", "other"}}, "", true},
		"what else the API server knows of somebody binds nobody": {map[string][]string{"authentication.kubernetes.io/credential-id": {"a"}}, "", false},
	} {
		if node, bound := (Caller{Name: "somebody", Extra: tc.extra}).Node(); node != tc.node || bound != tc.bound {
			t.Errorf("%s: %q, %v", name, node, bound)
		}
	}
}
