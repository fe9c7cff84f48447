package pictures

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// TestRequests compares the picture of requests with the ratios of the samples, for a pod that requests 1 core.
func TestRequests(t *testing.T) {
	manifest, err := os.ReadFile(filepath.Join(root(t), "deploy", "samples", "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var object corev1.ConfigMap
	if err := yaml.UnmarshalStrict(manifest, &object); err != nil {
		t.Fatal(err)
	}
	layer, err := config.Parse([]byte(object.Data["config.yaml"]), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	profile := table.Profile(ratiotest.Subject{})
	var speeds []speed
	for _, nodeType := range []struct{ name, as string }{{"n2d", "× 1"}, {"n4", "× 1 / 1.25"}, {"c3", "× 1 / 1.3"}} {
		entry, found := profile.Lookup(nodeType.name)
		if !found {
			t.Fatalf("the samples have no ratio of %s", nodeType.name)
		}
		desired, _ := sizing.CPU.Scale(sizing.Amount{Request: 1000}, entry.CPUFactor, profile.Bounds.CPU)
		speeds = append(speeds, speed{nodeType.name, 1000, desired.Request, nodeType.as})
	}
	image := requests("Requests of a pod on three node types", speeds)
	for _, want := range []string{"n2d", "1000m", "800m  × 1 / 1.25", "769m  × 1 / 1.3"} {
		if !strings.Contains("\n"+strings.Join(texts(t, image), "\n")+"\n", "\n"+want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	path := filepath.Join(root(t), "docs", "pictures", "requests.svg")
	if *update {
		if err := os.WriteFile(path, []byte(image), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != image {
		t.Errorf("%s is out of date, run make pictures: %v", path, err)
	}
}
