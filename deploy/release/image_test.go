package main

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// written writes an image and returns the path of the tar.
func written(t *testing.T, r *release) string {
	t.Helper()
	index, err := r.index()
	if err != nil {
		t.Fatal(err)
	}
	content, err := r.imageLayout(index)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// files returns the files in a tar, by name.
func files(t *testing.T, from io.Reader) map[string]*tar.Header {
	t.Helper()
	all := map[string]*tar.Header{}
	for r := tar.NewReader(from); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[header.Name] = header
	}
}

// unpacked returns what the index of an OCI image layout in a tar refers to.
func unpacked(t *testing.T, file string) (v1.ImageIndex, v1.Descriptor) {
	t.Helper()
	dir := t.TempDir()
	content, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	for r := tar.NewReader(content); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		blob, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, header.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, blob, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := top.IndexManifest()
	if err != nil || len(manifests.Manifests) != 1 {
		t.Fatalf("want one artifact, got %v, %v", manifests, err)
	}
	return top, manifests.Manifests[0]
}

// imageIn returns the index of the image in a tar.
func imageIn(t *testing.T, file string) v1.ImageIndex {
	t.Helper()
	top, artifact := unpacked(t, file)
	if err := validate.Index(top); err != nil {
		t.Errorf("the layout is not valid: %v", err)
	}
	index, err := top.ImageIndex(artifact.Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestImage(t *testing.T) {
	t.Run("each platform has an image with only the binary", eachPlatformHasAnImageWithOnlyTheBinary)
	t.Run("each platform can be loaded in the format of docker save", eachPlatformCanBeLoadedInTheFormatOfDockerSave)
	t.Run("names have the form that containerd expects", namesHaveTheFormThatContainerdExpects)
}

func eachPlatformHasAnImageWithOnlyTheBinary(t *testing.T) {
	r := example(t)
	file := written(t, r)
	if _, artifact := unpacked(t, file); artifact.Annotations["io.containerd.image.name"] != "example.com/workload-resizer:v1" {
		t.Errorf("the annotations are %v", artifact.Annotations)
	}
	index := imageIn(t, file)
	manifests, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifests.Manifests {
		platforms = append(platforms, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.OS+"/"+config.Architecture != m.Platform.String() || config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/workload-resizer"}) {
			t.Errorf("%s: %+v", m.Platform, config)
		}
		layers, err := image.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatalf("%s: %d layers, %v", m.Platform, len(layers), err)
		}
		content, err := layers[0].Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		inside := files(t, content)
		if binary := inside["workload-resizer"]; len(inside) != 1 || binary == nil || binary.Mode != 0o755 || binary.Uid != 0 || binary.Gid != 0 {
			t.Errorf("%s has %v", m.Platform, inside)
		}
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(platforms, want) {
		t.Errorf("images for %v, want %v", platforms, want)
	}
}

// Docker reads this format if it does not support the OCI layout.
func eachPlatformCanBeLoadedInTheFormatOfDockerSave(t *testing.T) {
	file := written(t, example(t))
	for _, architecture := range []string{"amd64", "arm64"} {
		tag, err := name.NewTag("example.com/workload-resizer:v1-" + architecture)
		if err != nil {
			t.Fatal(err)
		}
		image, err := tarball.ImageFromPath(file, &tag)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Image(image); err != nil {
			t.Error(err)
		}
		if config, err := image.ConfigFile(); err != nil || config.Architecture != architecture {
			t.Errorf("%s: %v, %v", architecture, config, err)
		}
	}
}

func namesHaveTheFormThatContainerdExpects(t *testing.T) {
	for given, want := range map[string]string{
		"workload-resizer:latest":                      "docker.io/library/workload-resizer:latest",
		"workload-resizer":                             "docker.io/library/workload-resizer:latest",
		"someone/workload-resizer:v1":                  "docker.io/someone/workload-resizer:v1",
		"localhost:5000/workload-resizer:v1":           "localhost:5000/workload-resizer:v1",
		"registry.example.com/team/workload-resizer:x": "registry.example.com/team/workload-resizer:x",
	} {
		tag, err := name.NewTag(given)
		if err != nil {
			t.Fatal(err)
		}
		if got := containerdName(tag); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}
