package deploy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
)

// TestUninstall checks that what the documentation of the uninstallation asks the cluster for finds all objects of all
// components, except those that go with their namespace.
func TestUninstall(t *testing.T) {
	page, err := os.ReadFile("../docs/tasks/uninstall.md")
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, found := range regexp.MustCompile(`(?m)^    kubectl get (\S+) -o name \| grep workload-resizer$`).FindAllStringSubmatch(string(page), -1) {
		kinds = append(kinds, strings.Split(found[1], ",")...)
	}
	installed, seen := objects(t, built(t, "base", components(t)...)), map[string]bool{}
	for _, o := range installed {
		seen[o.GetName()] = true
	}
	for _, o := range installed {
		plural, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		switch {
		case o.GetNamespace() != "" && seen[o.GetNamespace()]:
		case o.GetNamespace() != "":
			t.Errorf("%s %s stays in namespace %s", o.GetKind(), o.GetName(), o.GetNamespace())
		case !slices.Contains(kinds, plural.Resource) || !strings.Contains(o.GetName(), "workload-resizer"):
			t.Errorf("%s %s would not be found", o.GetKind(), o.GetName())
		}
	}
	for _, name := range []string{"workload-resizer-evict-pods", "workload-resizer-overloaded-taint"} {
		if !seen[name] {
			t.Errorf("%s is not installed", name)
		}
	}
}
