package charts

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "update the chart's copies of manifests and its table of values")

// copies maps files of the chart to the manifests that they are copied from.
var copies = map[string]string{
	"namespace.yaml":                 "base/namespace.yaml",
	"rbac.yaml":                      "base/rbac.yaml",
	"users.yaml":                     "base/users.yaml",
	"connect.yaml":                   "base/connect.yaml",
	"holds.yaml":                     "base/holds.yaml",
	"overrides.yaml":                 "base/overrides.yaml",
	"benchmarks.yaml":                "base/benchmarks.yaml",
	"samples.yaml":                   "base/samples.yaml",
	"journal.yaml":                   "base/journal.yaml",
	"tls.yaml":                       "base/tls.yaml",
	"annotation-guard.yaml":          "base/annotation-guard.yaml",
	"account-guard.yaml":             "base/account-guard.yaml",
	"stamp-originals.yaml":           "components/stamp-originals/policy.yaml",
	"network-policy.yaml":            "components/network-policy/networkpolicy.yaml",
	"cert-manager-authority.yaml":    "components/cert-manager/authority.yaml",
	"cert-manager-certificate.yaml":  "components/cert-manager/certificate.yaml",
	"servicemonitor.yaml":            "components/monitoring/servicemonitor.yaml",
	"prometheusrule.yaml":            "components/monitoring/prometheusrule.yaml",
	"dashboard.json":                 "monitoring/dashboard.json",
	"bench-node-serviceaccount.yaml": "components/bench-node/serviceaccount.yaml",
	"report-usage-namespace.yaml":    "components/report-usage/namespace.yaml",
	"report-usage-rbac.yaml":         "components/report-usage/rbac.yaml",
	"cpu-model-label-policy.yaml":    "components/cpu-model-label/policy.yaml",
	"cpu-model-label-rbac.yaml":      "components/cpu-model-label/rbac.yaml",
	"startup-taint-policy.yaml":      "components/startup-taint/policy.yaml",
	"startup-taint-rbac.yaml":        "components/startup-taint/rbac.yaml",
	"overloaded-taint-policy.yaml":   "components/overloaded-taint/policy.yaml",
	"overloaded-taint-rbac.yaml":     "components/overloaded-taint/rbac.yaml",
	"vpa-objects-rbac.yaml":          "components/vpa-objects/rbac.yaml",
	"evict-pods-evictions.yaml":      "components/evict-pods/evictions.yaml",
	"evict-pods-rbac.yaml":           "components/evict-pods/rbac.yaml",
	"size-at-creation-keys.yaml":     "components/size-at-creation/keys.yaml",
	"size-at-creation-rbac.yaml":     "components/size-at-creation/rbac.yaml",
	"size-at-creation-webhook.yaml":  "components/size-at-creation/webhook.yaml",
}

func TestCopies(t *testing.T) {
	t.Run("files are copies of the manifests that kustomize uses", filesAreCopiesOfTheManifestsThatKustomizeUses)
}

func filesAreCopiesOfTheManifestsThatKustomizeUses(t *testing.T) {
	for name, source := range copies {
		want, err := os.ReadFile(filepath.Join("..", source))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(chart, "files", name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s differs from deploy/%s, run make generate: %v", path, source, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(chart, "files", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if copies[filepath.Base(path)] == "" {
			t.Errorf("%s is not a copy of a manifest", path)
		}
	}
}
