package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// kustomization creates a kustomization of a base or an overlay with components, and returns
// its directory.
func kustomization(t *testing.T, of string, components ...string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// kustomize requires relative paths.
	relative, err := filepath.Rel(dir, here)
	if err != nil {
		t.Fatal(err)
	}
	content := fmt.Sprintf("resources: [%s]\ncomponents:\n", filepath.Join(relative, of))
	for _, component := range components {
		content += fmt.Sprintf("- %s\n", filepath.Join(relative, "components", component))
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// built returns kustomize's manifest for a base or an overlay with components.
func built(t *testing.T, of string, components ...string) []byte {
	t.Helper()
	return []byte(kubectl(t, "kustomize", kustomization(t, of, components...)))
}

// components returns all components, each after those that it patches.
func components(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("components/*/kustomization.yaml")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d components, %v", len(dirs), err)
	}
	var names []string
	for _, dir := range dirs {
		names = append(names, filepath.Base(filepath.Dir(dir)))
	}
	slices.Sort(names)
	return names
}

// kubectl runs kubectl and returns its output. If kubectl fails, so does the test.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	program, err := localcluster.Binary("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// commands returns the commands in the comments of a file.
func commands(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(content)) {
		if command, ok := strings.CutPrefix(line, "#     "); ok {
			found = append(found, strings.TrimSpace(command))
		}
	}
	return found
}

// shell runs a command as a user would, with the project's own kubectl.
func shell(t *testing.T, cluster *localcluster.Cluster, command string) {
	t.Helper()
	program, err := localcluster.Binary("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command)
	run.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "KUBECONFIG="+cluster.Kubeconfig)
	// Paths are relative to the root of the repository.
	run.Dir = ".."
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}

// objects returns the objects of a manifest.
func objects(t *testing.T, manifest []byte) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	documents(t, string(manifest), func(document []byte) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			t.Fatal(err)
		}
		all = append(all, object)
	})
	return all
}

// single returns the only object of a kind.
func single(t *testing.T, manifest []byte, kind string) *unstructured.Unstructured {
	t.Helper()
	found := slices.DeleteFunc(objects(t, manifest), func(o *unstructured.Unstructured) bool { return o.GetKind() != kind })
	if len(found) != 1 {
		t.Fatalf("got %d objects of kind %s, want 1", len(found), kind)
	}
	return found[0]
}

// only returns the only object of a kind, as a typed object.
func only[T any](t *testing.T, manifest []byte, kind string) *T {
	t.Helper()
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(single(t, manifest, kind).Object, object, true); err != nil {
		t.Fatal(err)
	}
	return object
}
