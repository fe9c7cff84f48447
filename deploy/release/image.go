package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// entrypoint is the only file of the image.
const entrypoint = "/workload-resizer"

// writeImage writes the image as a file of the release.
func (r *release) writeImage() error {
	index, err := r.index()
	if err != nil {
		return err
	}
	content, err := r.imageLayout(index)
	if err != nil {
		return err
	}
	return r.add("workload-resizer_"+r.version+"_image.tar", content)
}

// writeImageTo writes only the image, and prints its digest.
func (r *release) writeImageTo(file string) error {
	index, err := r.index()
	if err != nil {
		return err
	}
	content, err := r.imageLayout(index)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o644)); err != nil {
		return fmt.Errorf("write image %s: %w", file, err)
	}
	_, err = fmt.Printf("%s %s@%s\n", file, r.name, digest)
	return err
}

// labels returns the same labels as the Dockerfile has.
func (r *release) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":         "workload-resizer",
		"org.opencontainers.image.description":   "Resizes pods in place for the type of the node that they run on",
		"org.opencontainers.image.source":        repository,
		"org.opencontainers.image.documentation": repository + "/tree/main/docs",
		"org.opencontainers.image.licenses":      "Apache-2.0",
		"org.opencontainers.image.version":       r.version,
		"org.opencontainers.image.revision":      r.commit,
		"org.opencontainers.image.created":       r.created.Format(time.RFC3339),
	}
}

// index returns an index with an image for each Linux platform, in the order of their names.
func (r *release) index() (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, on := range slices.Sorted(slices.Values(r.platformsOf("linux"))) {
		platform, err := v1.ParsePlatform(on)
		if err != nil {
			return nil, fmt.Errorf("parse platform %q: %w", on, err)
		}
		image, err := r.image(platform)
		if err != nil {
			return nil, fmt.Errorf("create the image for %s: %w", on, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	return index, nil
}

// image returns the image for a platform.
func (r *release) image(platform *v1.Platform) (v1.Image, error) {
	layer, err := r.layer(platform)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Architecture, Variant: platform.Variant,
		Created: v1.Time{Time: r.created},
		RootFS:  v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:         "65532:65532",
			Entrypoint:   []string{entrypoint},
			ExposedPorts: map[string]struct{}{"7443/tcp": {}, "8080/tcp": {}},
			Labels:       r.labels(),
		},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.created}, CreatedBy: "make image"}})
}

// layer returns the only layer of an image. It contains the server and nothing else: no shell
// and no list of users.
func (r *release) layer(platform *v1.Platform) (v1.Layer, error) {
	content, err := os.ReadFile(r.program("workload-resizer", platform.String()))
	if err != nil {
		return nil, err
	}
	files, err := r.tarred([]entry{{name: entrypoint[1:], mode: 0o755, content: content}})
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression))
}
