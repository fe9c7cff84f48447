package deploy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	store "github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// documents calls do for each document of a manifest.
func documents(t *testing.T, manifest string, do func(document []byte)) {
	t.Helper()
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(manifest))))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		do(document)
	}
}

func TestSamples(t *testing.T) {
	t.Run("each shard has a ConfigMap that the server may write", eachShardHasAConfigMapThatTheServerMayWrite)
}

// shards returns the names of the ConfigMaps with samples.
func shards() (all []string) {
	for i := range store.Shards {
		all = append(all, fmt.Sprint(contract.DefaultNames.SamplesPrefix, i))
	}
	return all
}

func eachShardHasAConfigMapThatTheServerMayWrite(t *testing.T) {
	want := shards()
	var got []string
	documents(t, samples, func(document []byte) {
		var cm corev1.ConfigMap
		if err := yaml.UnmarshalStrict(document, &cm); err != nil {
			t.Fatal(err)
		}
		if cm.Namespace != Namespace || len(cm.Data) > 0 {
			t.Errorf("%s/%s has data or is in another namespace: %v", cm.Namespace, cm.Name, cm.Data)
		}
		got = append(got, cm.Name)
	})
	if !slices.Equal(got, want) {
		t.Errorf("the manifest has %v, want %v", got, want)
	}
	var writable []string
	documents(t, rbac, func(document []byte) {
		var role rbacv1.Role
		if err := yaml.Unmarshal(document, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			if slices.Contains(rule.ResourceNames, want[0]) && slices.Equal(rule.Verbs, []string{"list", "watch", "get", "patch"}) {
				writable = rule.ResourceNames
			}
		}
	})
	if !slices.Equal(writable, want) {
		t.Errorf("the server may write %v, want %v", writable, want)
	}
}
