package charts

import (
	"slices"
	"strings"
	"testing"
)

// theirs are the names by which resizectl and node agents call servers of the
// namespace elsewhere.
var theirs = []string{"workload-resizer.elsewhere.svc", "workload-resizer.elsewhere.svc.cluster.local"}

func TestTLS(t *testing.T) {
	t.Run("names of callers are added to those that others rely on", namesOfCallersAreAddedToThoseThatOthersRelyOn)
	t.Run("the server's own names are left to them", theServersOwnNamesAreLeftToThem)
}

func namesOfCallersAreAddedToThoseThatOthersRelyOn(t *testing.T) {
	manifest, err := rendered(t, "elsewhere", "tls: {dnsNames: [a.example.com, b.example.com]}")
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(theirs), "a.example.com", "b.example.com")
	if flag := "- --tls-dns-names=" + strings.Join(want, ",") + "\n"; !strings.Contains(manifest, flag) {
		t.Errorf("the arguments have no %s", flag)
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

func theServersOwnNamesAreLeftToThem(t *testing.T) {
	manifest, err := rendered(t, "elsewhere", "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(manifest, "--tls-dns-names") {
		t.Error("names are given where there are none to add")
	}
}
