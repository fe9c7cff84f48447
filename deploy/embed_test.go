package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Programs and kustomize must install the same.
func TestBaseIsWhatTheKustomizationLists(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("base", "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var kustomization struct {
		Resources []string `json:"resources"`
	}
	if err := yaml.Unmarshal(content, &kustomization); err != nil {
		t.Fatal(err)
	}
	base := Base()
	if len(kustomization.Resources) != len(base) {
		t.Fatalf("the kustomization lists %v, Base has %d files", kustomization.Resources, len(base))
	}
	for i, name := range kustomization.Resources {
		file, err := os.ReadFile(filepath.Join("base", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(file) != string(base[i]) {
			t.Errorf("file %d of Base is not %s", i, name)
		}
	}
}

func TestNamesAreThoseOfTheManifests(t *testing.T) {
	for name, manifest := range map[string]string{
		Namespace:       namespace,
		ServiceAccount:  serviceAccount,
		ConfigMap:       sampleConfig,
		Holds:           holds,
		BenchmarkRatios: benchmarks,
		SampleNamespace: sampleWorkloads,
	} {
		if !strings.Contains(manifest, "\n  name: "+name+"\n") {
			t.Errorf("no object is called %s in\n%s", name, manifest)
		}
	}
}
