package deploy

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

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
	t.Run("defaults of flags match the names in the manifests", defaultsOfFlagsMatchTheNamesInTheManifests)
}

func defaultsOfFlagsMatchTheNamesInTheManifests(t *testing.T) {
	flags := defaults(t)
	base := built(t, "base")
	there := map[string]bool{}
	for _, object := range objects(t, append(append(base, "\n---\n"...), sampleConfig...)) {
		there[object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName()] = true
	}
	namespace := flags["--config-namespace"]
	for flag, kind := range map[string]string{
		"--config-name": "ConfigMap", "--overrides-name": "ConfigMap", "--holds-name": "ConfigMap",
		"--benchmark-ratios-name": "ConfigMap", "--tls-ca-name": "ConfigMap", "--tls-secret-name": "Secret",
	} {
		if name := flags[flag]; !there[kind+" "+namespace+"/"+name] {
			t.Errorf("the default of %s is %q, but the manifests have no such %s in %s", flag, name, kind, namespace)
		}
	}
	// Users and the server create these objects.
	role := only[rbacv1.Role](t, []byte(rbac), "Role")
	for flag, resource := range map[string]string{"--benchmarks-name": "configmaps", "--lease-name": "leases"} {
		if !slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.Resources, resource) && slices.Contains(rule.ResourceNames, flags[flag])
		}) {
			t.Errorf("the default of %s is %q, but the Role has no rule for such %s", flag, flags[flag], resource)
		}
	}
	if flags["--usage-prefix"] != UsagePrefix || !slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
		return slices.Equal(slices.Sorted(slices.Values(rule.ResourceNames)), slices.Sorted(slices.Values(checkpoint.Names(UsagePrefix))))
	}) {
		t.Errorf("the default of --usage-prefix is %q, or the Role has no rule for exactly the ConfigMaps that the server uses", flags["--usage-prefix"])
	}
	if flags["--samples-prefix"] != SamplesPrefix || !bytes.Contains(base, []byte("name: "+SamplesPrefix+"0\n")) {
		t.Errorf("the default of --samples-prefix is %q, want %q", flags["--samples-prefix"], SamplesPrefix)
	}
}
