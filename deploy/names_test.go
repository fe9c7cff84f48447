package deploy

import (
	"os/exec"
	"regexp"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/recorder"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
)

// defaults returns the defaults of the server's string flags.
func defaults(t *testing.T) map[string]string {
	t.Helper()
	program, err := localcluster.Binary("workload-resizer")
	if err != nil {
		t.Fatal(err)
	}
	help, err := exec.CommandContext(t.Context(), program, "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^ +(--[a-z-]+) string .*\(default "([^"]+)"\)$`).FindAllSubmatch(help, -1) {
		found[string(match[1])] = string(match[2])
	}
	return found
}

func TestNames(t *testing.T) {
	t.Run("the server uses the names in the manifests by default", theServerUsesTheNamesInTheManifestsByDefault)
	t.Run("the manifests have the objects that the server only updates", theManifestsHaveTheObjectsThatTheServerOnlyUpdates)
	t.Run("the Role allows exactly the server's names", theRoleAllowsExactlyTheServersNames)
	t.Run("clients find the certificate authority by its default name", func(t *testing.T) {
		if client.AuthorityConfigMap != contract.DefaultNames.CA {
			t.Errorf("they read %s, the server writes %s", client.AuthorityConfigMap, contract.DefaultNames.CA)
		}
	})
}

func theServerUsesTheNamesInTheManifestsByDefault(t *testing.T) {
	flags := defaults(t)
	if flags["--config-namespace"] != Namespace || flags["--config-name"] != ConfigMap || contract.NamesWith(flags["--name-prefix"]) != contract.DefaultNames {
		t.Errorf("the defaults are %v", flags)
	}
}

func theManifestsHaveTheObjectsThatTheServerOnlyUpdates(t *testing.T) {
	there := map[string]bool{}
	for _, object := range objects(t, append(append(built(t, "base"), "\n---\n"...), sampleConfig...)) {
		there[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = true
	}
	names := contract.DefaultNames
	for _, name := range append([]string{ConfigMap, names.Overrides, names.Holds, names.BenchmarkRatios, names.ProductionRatios, names.CA}, slices.Concat(shards(), recorder.Names(names.JournalPrefix))...) {
		if !there["ConfigMap "+Namespace+"/"+name] {
			t.Errorf("there is no ConfigMap %s", name)
		}
	}
	if !there["Secret "+Namespace+"/"+names.Certificate] {
		t.Errorf("there is no Secret %s", names.Certificate)
	}
}

func theRoleAllowsExactlyTheServersNames(t *testing.T) {
	names := contract.DefaultNames
	want := map[string][]string{
		"configmaps": slices.Concat([]string{ConfigMap, names.Overrides, names.Holds, names.Freeze, names.Benchmarks, names.BenchmarkRatios, names.ProductionRatios, names.CA}, shards(), checkpoint.Names(names.UsagePrefix), recorder.Names(names.JournalPrefix)),
		"secrets":    {names.Certificate},
		"leases":     {names.Lease},
	}
	got := map[string][]string{}
	for _, rule := range only[rbacv1.Role](t, []byte(rbac), "Role").Rules {
		for _, resource := range rule.Resources {
			got[resource] = append(got[resource], rule.ResourceNames...)
		}
	}
	for resource, names := range want {
		slices.Sort(names)
		slices.Sort(got[resource])
		if !slices.Equal(got[resource], names) {
			t.Errorf("the Role allows the %s %q, the server uses %q", resource, got[resource], names)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the Role has rules for %v", got)
	}
}
