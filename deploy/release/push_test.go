package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"
)

// helm runs the Helm that "make bin/helm" builds, with a home folder of its own.
func helm(t *testing.T, args ...string) string {
	t.Helper()
	program, err := filepath.Abs("../../bin/helm")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = []string{"HOME=" + t.TempDir()}
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("helm %v: %v\n%s%s", args, err, out, said.String())
	}
	return string(out)
}

// contents returns the text of the files in a chart.
func contents(t *testing.T, chart []byte) map[string]string {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(chart))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for r := tar.NewReader(unpacked); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all[header.Name] = string(content)
	}
}

func TestPush(t *testing.T) {
	r := example(t)
	all := made(t, r)
	t.Run("the chart has the files that helm package packs", func(t *testing.T) { theChartHasTheFilesThatHelmPackagePacks(t, r, all) })
	t.Run("Helm pulls the chart from a registry, and installs the image of the release", func(t *testing.T) { helmPullsTheChart(t, r, all) })
	t.Run("a registry has an image for each Linux platform", func(t *testing.T) { aRegistryHasAnImageForEachLinuxPlatform(t, r) })
}

func theChartHasTheFilesThatHelmPackagePacks(t *testing.T, r *release, all map[string][]byte) {
	ours := contents(t, all["workload-resizer-1.2.3.tgz"])
	dir := t.TempDir()
	helm(t, "package", filepath.Join(r.source, "deploy/charts/workload-resizer"), "--version", "1.2.3", "--app-version", "v1.2.3", "--destination", dir)
	packed, err := os.ReadFile(filepath.Join(dir, "workload-resizer-1.2.3.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := contents(t, packed)
	// Helm writes Chart.yaml again, in another order and without comments.
	for _, files := range []map[string]string{ours, theirs} {
		sorted, err := yaml.YAMLToJSON([]byte(files["workload-resizer/Chart.yaml"]))
		if err != nil {
			t.Fatal(err)
		}
		files["workload-resizer/Chart.yaml"] = string(sorted)
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("-helm +ours\n%s", diff)
	}
}

// serve starts a registry, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func helmPullsTheChart(t *testing.T, r *release, all map[string][]byte) {
	at := serve(t) + "/charts/workload-resizer"
	layout, artifact := unpacked(t, filepath.Join(r.output, "workload-resizer_v1.2.3_chart.tar"))
	chart, err := layout.Image(artifact.Digest)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(at + ":" + artifact.Annotations["org.opencontainers.image.ref.name"])
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, chart); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	helm(t, "pull", "oci://"+at, "--version", "1.2.3", "--plain-http", "--destination", dir)
	pulled, err := os.ReadFile(filepath.Join(dir, "workload-resizer-1.2.3.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pulled, all["workload-resizer-1.2.3.tgz"]) {
		t.Error("Helm pulled another chart")
	}
	manifest := helm(t, "template", "mine", "oci://"+at, "--version", "1.2.3", "--plain-http", "--set", "image.repository=registry.example.com/resizer")
	if !strings.Contains(manifest, "image: registry.example.com/resizer:v1.2.3\n") {
		t.Errorf("the Deployment does not have the image of the release:\n%s", manifest)
	}
	var shown struct{ Version, AppVersion string }
	if err := yaml.Unmarshal([]byte(helm(t, "show", "chart", "oci://"+at, "--version", "1.2.3", "--plain-http")), &shown); err != nil || shown.Version != "1.2.3" || shown.AppVersion != "v1.2.3" {
		t.Errorf("the chart is %+v, %v", shown, err)
	}
	config, err := chart.RawConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	var described map[string]any
	if err := json.Unmarshal(config, &described); err != nil || described["name"] != "workload-resizer" || described["version"] != "1.2.3" {
		t.Errorf("the registry describes the chart as %s, %v", config, err)
	}
}

func aRegistryHasAnImageForEachLinuxPlatform(t *testing.T, r *release) {
	tag, err := name.NewTag(serve(t) + "/workload-resizer:v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(tag, imageIn(t, filepath.Join(r.output, "workload-resizer_v1.2.3_image.tar"))); err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(tag)
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range manifests.Manifests {
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		got[m.Platform.String()] = config.Config.Labels["org.opencontainers.image.version"]
	}
	if want := map[string]string{"linux/amd64": "v1.2.3", "linux/arm64": "v1.2.3"}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", slices.Sorted(maps.Keys(got)), want)
	}
}
