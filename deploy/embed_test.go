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
	t.Run("Base has the objects of the overlay outside", baseHasTheObjectsOfTheOverlayOutside)
	t.Run("names match the manifests", namesMatchTheManifests)
}

// Programs and kustomize must install the same objects.
func baseHasTheObjectsOfTheOverlayOutside(t *testing.T) {
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

func namesMatchTheManifests(t *testing.T) {
	for name, manifest := range map[string]string{
		Namespace:       namespace,
		ServiceAccount:  serviceAccount,
		ConfigMap:       sampleConfig,
		SampleNamespace: sampleWorkloads,
	} {
		if !strings.Contains(manifest, "\n  name: "+name+"\n") {
			t.Errorf("no object has the name %s in\n%s", name, manifest)
		}
	}
}
