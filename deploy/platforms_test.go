package deploy

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

func TestPlatforms(t *testing.T) {
	t.Run("the configuration of a platform knows the types of its nodes", theConfigurationOfAPlatformKnowsTheTypesOfItsNodes)
}

func theConfigurationOfAPlatformKnowsTheTypesOfItsNodes(t *testing.T) {
	for _, tc := range []struct {
		file   string
		labels map[string]string
		want   string
	}{
		{"gke.yaml", map[string]string{nodetype.LabelGCPMachineFamily: "n4", nodetype.LabelInstanceType: "n4-standard-8"}, "n4"},
		{"eks.yaml", map[string]string{nodetype.LabelInstanceType: "m7i.2xlarge"}, "m7i"},
		{"eks.yaml", map[string]string{nodetype.LabelAWSFamily: "m7g", nodetype.LabelInstanceType: "m7g.large"}, "m7g"},
		{"aks.yaml", map[string]string{nodetype.LabelInstanceType: "Standard_D8as_v5"}, "Das_v5"},
		{"kind.yaml", map[string]string{nodetype.LabelInstanceType: "fast"}, "fast"},
	} {
		content, err := os.ReadFile(filepath.Join("samples", tc.file))
		if err != nil {
			t.Fatal(err)
		}
		var cm corev1.ConfigMap
		if err := yaml.UnmarshalStrict(content, &cm); err != nil {
			t.Fatalf("%s: %v", tc.file, err)
		}
		if cm.Namespace != Namespace || cm.Name != ConfigMap {
			t.Errorf("%s is for %s/%s", tc.file, cm.Namespace, cm.Name)
		}
		layer, err := config.Parse([]byte(cm.Data[config.FileName]), ratios.Provenance{})
		if err != nil {
			t.Fatalf("%s: %v", tc.file, err)
		}
		known := func(nodeType string) bool { _, ok := layer.Ratios[nodeType]; return ok }
		if got, ok := nodetype.New("").Resolve(tc.labels, known); !ok || got.NodeType != tc.want {
			t.Errorf("%s: a node with %v is of type %q, want %q", tc.file, tc.labels, got.NodeType, tc.want)
		}
	}
}
