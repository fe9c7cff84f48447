package charts

import (
	"slices"
	"strings"
	"testing"
)

// theirs are the names that resizectl and node agents use to call servers in the namespace
// elsewhere.
var theirs = []string{"workload-resizer.elsewhere.svc", "workload-resizer.elsewhere.svc.cluster.local"}

func TestTLS(t *testing.T) {
	t.Run("additional names do not replace the default ones", additionalNamesDoNotReplaceTheDefaultOnes)
	t.Run("the flag is not set without additional names", theFlagIsNotSetWithoutAdditionalNames)
}

func additionalNamesDoNotReplaceTheDefaultOnes(t *testing.T) {
	manifest, err := rendered(t, "elsewhere", "tls: {dnsNames: [a.example.com, b.example.com]}")
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(theirs), "a.example.com", "b.example.com")
	if flag := "- --tls-dns-names=" + strings.Join(want, ",") + "\n"; !strings.Contains(manifest, flag) {
		t.Errorf("the manifest lacks the argument %s", flag)
	}
	manifest, err = rendered(t, "elsewhere", "tls: {mode: certManager, dnsNames: [a.example.com, b.example.com]}")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, name := range anys(parsed(t, manifest)["cert-manager.io/v1 Certificate elsewhere/workload-resizer"]["spec"].(object)["dnsNames"]) {
		got = append(got, name.(string))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the certificate of cert-manager is for %v, want %v", got, want)
	}
}

func theFlagIsNotSetWithoutAdditionalNames(t *testing.T) {
	manifest, err := rendered(t, "elsewhere", "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(manifest, "--tls-dns-names") {
		t.Error("the chart sets --tls-dns-names without additional names")
	}
}
