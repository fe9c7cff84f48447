package deploy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// roles returns the permissions of each role for users.
func roles(t *testing.T) map[string]map[access.Right]bool {
	t.Helper()
	all := map[string]map[access.Right]bool{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(users))))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		var role rbacv1.ClusterRole
		if err := yaml.UnmarshalStrict(document, &role); err != nil {
			t.Fatal(err)
		}
		rights := map[access.Right]bool{}
		for _, rule := range role.Rules {
			groups := []string{access.Group}
			if len(rule.NonResourceURLs) > 0 {
				groups = nil // Paths belong to no group.
			}
			if !slices.Equal(rule.APIGroups, groups) || len(rule.ResourceNames) > 0 {
				t.Errorf("%s has a rule for something else: %v", role.Name, rule)
			}
			for _, resource := range slices.Concat(rule.Resources, rule.NonResourceURLs) {
				for _, verb := range rule.Verbs {
					rights[access.Right{Verb: verb, Resource: resource}] = true
				}
			}
		}
		all[role.Name] = rights
	}
}

// agents are the roles of programs that only send, and what they may do. Editors may do so, too.
var agents = map[string]access.Right{
	"workload-resizer-agent":       {Verb: "create", Resource: "samples"},
	"workload-resizer-usage-agent": {Verb: "create", Resource: "usages"},
}

func TestUsers(t *testing.T) {
	t.Run("each role has exactly the permissions of the previous one and its own", eachRoleHasExactlyThePermissionsOfThePreviousOneAndItsOwn)
}

func eachRoleHasExactlyThePermissionsOfThePreviousOneAndItsOwn(t *testing.T) {
	all := roles(t)
	want := map[access.Right]bool{}
	for _, role := range []string{"workload-resizer-viewer", "workload-resizer-editor", "workload-resizer-admin"} {
		before := len(want)
		for _, method := range access.Methods() {
			for _, right := range method.Rights {
				_, forAgents := agents[right.Role()]
				if right.Role() == role || role == "workload-resizer-editor" && forAgents {
					want[right] = true
				}
			}
		}
		if len(want) == before {
			t.Errorf("%s adds no permissions", role)
		}
		if !maps.Equal(all[role], want) {
			t.Errorf("%s has the permissions\n%v, want\n%v", role, all[role], want)
		}
		delete(all, role)
	}
	others := maps.Clone(agents)
	others["workload-resizer-metrics"] = access.Right{Verb: "get", Resource: access.Metrics}
	for role, right := range others {
		if want := map[access.Right]bool{right: true}; !maps.Equal(all[role], want) {
			t.Errorf("%s has the permissions\n%v, want\n%v", role, all[role], want)
		}
		delete(all, role)
	}
	if len(all) > 0 {
		t.Errorf("unexpected roles: %v", all)
	}
}
