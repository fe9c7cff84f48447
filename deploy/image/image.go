package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// entrypoint is the only file of the image.
const entrypoint = "/workload-resizer"

// build describes an image. The same build of the same binaries has the same digest.
type build struct {
	// name is the name of the image once it is loaded.
	name              name.Tag
	version, revision string
	// created is the only time in the image.
	created time.Time
}

// labels returns the same labels as the Dockerfile has.
func (b *build) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":         "workload-resizer",
		"org.opencontainers.image.description":   "Resizes pods in place for the type of the node that they run on",
		"org.opencontainers.image.source":        "https://github.com/workload-resizer/workload-resizer",
		"org.opencontainers.image.documentation": "https://github.com/workload-resizer/workload-resizer/tree/main/docs",
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.version":       b.version,
		"org.opencontainers.image.revision":      b.revision,
		"org.opencontainers.image.created":       b.created.Format(time.RFC3339),
	}
}

// index returns an index with an image for each platform, e.g. linux/amd64, in the order of
// their names.
func (b *build) index(binaries map[string]string) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, on := range slices.Sorted(maps.Keys(binaries)) {
		platform, err := v1.ParsePlatform(on)
		if err != nil {
			return nil, fmt.Errorf("parse platform %q: %w", on, err)
		}
		image, err := b.image(platform, binaries[on])
		if err != nil {
			return nil, fmt.Errorf("create the image for %s: %w", on, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	return index, nil
}

// image returns the image for a platform.
func (b *build) image(platform *v1.Platform, binary string) (v1.Image, error) {
	layer, err := b.layer(binary)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Variant: platform.Variant,
		Created: v1.Time{Time: b.created},
		RootFS:  v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:         "65532:65532",
			Entrypoint:   []string{entrypoint},
			ExposedPorts: map[string]struct{}{"7443/tcp": {}, "8080/tcp": {}},
			Labels:       b.labels(),
		},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: b.created}, CreatedBy: "make image"}})
}

// layer returns the only layer of an image. It contains the binary and nothing else: no shell
// and no list of users.
func (b *build) layer(binary string) (v1.Layer, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("read the binary: %w", err)
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	if err := w.WriteHeader(&tar.Header{Name: entrypoint[1:], Mode: 0o755, Size: int64(len(content)), ModTime: b.created, Format: tar.FormatPAX}); err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
}
