package charts

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// chart is the chart's directory.
const chart = "workload-resizer"

// helm is the program of bin/ that the tests use: Helm 4, or what "make test-helm3" chooses.
var helm = cmp.Or(os.Getenv("WORKLOAD_RESIZER_TEST_HELM"), "helm")

// ofHelm returns the arguments without those that only Helm 4 knows: Helm 3 applies nothing on the
// server's side, and so has no conflicts.
func ofHelm(args []string) []string {
	if helm != "helm3" {
		return args
	}
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		return arg == "--force-conflicts" || strings.HasPrefix(arg, "--server-side")
	})
}

// run runs a program of bin/ and returns its standard output. Errors include its standard
// error. Helm does not use the configuration of this machine's user.
func run(t *testing.T, input, name string, args ...string) (string, error) {
	t.Helper()
	if name == "helm" {
		name, args = helm, ofHelm(args)
	}
	path, err := localcluster.Binary(name)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	cmd.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, stderr.String(), stdout.String())
	}
	return stdout.String(), nil
}

// must is like run, but an error fails the test.
func must(t *testing.T, input, name string, args ...string) string {
	t.Helper()
	out, err := run(t, input, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rendered returns the chart's manifest for YAML values and a namespace.
func rendered(t *testing.T, namespace, values string) (string, error) {
	t.Helper()
	return run(t, values, "helm", "template", chart, chart, "--namespace", namespace, "--values", "-")
}

// kustomized returns kustomize's manifest for a directory of deploy with components.
func kustomized(t *testing.T, resource string, components ...string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// kustomize requires relative paths.
	relative := func(name string) string {
		path, err := filepath.Rel(dir, filepath.Join(here, "..", name))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	kustomization := "resources: [" + relative(resource) + "]\ncomponents:\n"
	for _, component := range components {
		kustomization += "  - " + relative("components/"+component) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o644); err != nil {
		t.Fatal(err)
	}
	return must(t, "", "kubectl", "kustomize", dir)
}

// object is an object of a manifest.
type object = map[string]any

// parsed returns the objects of a manifest by apiVersion, kind, namespace and name.
func parsed(t *testing.T, manifest string) map[string]object {
	t.Helper()
	objects := map[string]object{}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(manifest)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		var o object
		// Strict, to detect duplicate keys.
		if err := yaml.UnmarshalStrict(document, &o); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if len(o) == 0 {
			continue
		}
		metadata, _ := o["metadata"].(object)
		key := fmt.Sprintf("%v %v %v/%v", o["apiVersion"], o["kind"], metadata["namespace"], metadata["name"])
		if objects[key] != nil {
			t.Errorf("the manifest has %s more than once", key)
		}
		objects[key] = o
	}
}

const namespace = deploy.Namespace
