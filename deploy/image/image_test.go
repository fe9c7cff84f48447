package main

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// example returns a build with stand-ins for the binaries.
func example(t *testing.T) (build, map[string]string) {
	t.Helper()
	tag, err := name.NewTag("example.com/workload-resizer:v1")
	if err != nil {
		t.Fatal(err)
	}
	binaries := map[string]string{}
	for _, architecture := range []string{"amd64", "arm64"} {
		file := filepath.Join(t.TempDir(), "binary")
		if err := os.WriteFile(file, []byte("for "+architecture), 0o600); err != nil {
			t.Fatal(err)
		}
		binaries["linux/"+architecture] = file
	}
	return build{name: tag, version: "v1", revision: "0123abc", created: time.Unix(1_700_000_000, 0).UTC()}, binaries
}

// written writes an image and returns the path of the tar and the digest.
func written(t *testing.T, b build, binaries map[string]string) (file string, digest v1.Hash) {
	t.Helper()
	index, err := b.index(binaries)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "image.tar")
	if err := b.write(index, file); err != nil {
		t.Fatal(err)
	}
	if digest, err = index.Digest(); err != nil {
		t.Fatal(err)
	}
	return file, digest
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

// unpacked returns the index of the OCI image layout in a tar.
func unpacked(t *testing.T, file string) v1.ImageIndex {
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
	if err := validate.Index(top); err != nil {
		t.Errorf("the layout is not valid: %v", err)
	}
	manifests, err := top.IndexManifest()
	if err != nil || len(manifests.Manifests) != 1 {
		t.Fatalf("want one index, got %v, %v", manifests, err)
	}
	if want, got := "example.com/workload-resizer:v1", manifests.Manifests[0].Annotations["io.containerd.image.name"]; got != want {
		t.Errorf("the name for containerd is %q, want %q", got, want)
	}
	index, err := top.ImageIndex(manifests.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestImage(t *testing.T) {
	t.Run("each platform has an image with only the binary", eachPlatformHasAnImageWithOnlyTheBinary)
	t.Run("each platform can be loaded in the format of docker save", eachPlatformCanBeLoadedInTheFormatOfDockerSave)
	t.Run("the same build creates the same file", theSameBuildCreatesTheSameFile)
	t.Run("names have the form that containerd expects", namesHaveTheFormThatContainerdExpects)
}

func eachPlatformHasAnImageWithOnlyTheBinary(t *testing.T) {
	b, binaries := example(t)
	file, _ := written(t, b, binaries)
	index := unpacked(t, file)
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
	if want := slices.Sorted(maps.Keys(binaries)); !slices.Equal(platforms, want) {
		t.Errorf("images for %v, want %v", platforms, want)
	}
}

// Docker reads this format if it does not support the OCI layout.
func eachPlatformCanBeLoadedInTheFormatOfDockerSave(t *testing.T) {
	b, binaries := example(t)
	file, _ := written(t, b, binaries)
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

func theSameBuildCreatesTheSameFile(t *testing.T) {
	b, binaries := example(t)
	one, digest := written(t, b, binaries)
	other, same := written(t, b, binaries)
	if digest != same {
		t.Errorf("digests %s and %s", digest, same)
	}
	for platform := range binaries {
		if err := os.Chtimes(binaries[platform], time.Unix(1, 0), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	first, errFirst := os.ReadFile(one)
	second, errSecond := os.ReadFile(other)
	if err := errors.Join(errFirst, errSecond); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first, second) {
		t.Error("the tars differ")
	}
	b.version = "v2"
	if _, changed := written(t, b, binaries); changed == digest {
		t.Error("another version has the same digest")
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
