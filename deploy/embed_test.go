package deploy

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestEmbed(t *testing.T) {
	t.Run("base is the overlay for servers outside", baseIsTheOverlayForServersOutside)
	t.Run("names are those of the manifests", namesAreThoseOfTheManifests)
}

// Programs and kustomize must install the same.
func baseIsTheOverlayForServersOutside(t *testing.T) {
	sorted := func(manifest []byte) []string {
		var all []string
		for _, object := range objects(t, manifest) {
			text, err := yaml.Marshal(object.Object)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
		slices.Sort(all)
		return all
	}
	if diff := cmp.Diff(sorted(built(t, "overlays/outside")), sorted(bytes.Join(Base(), []byte("\n---\n")))); diff != "" {
		t.Errorf("overlays/outside and Base differ (-overlay +Base):\n%s", diff)
	}
}

func namesAreThoseOfTheManifests(t *testing.T) {
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
