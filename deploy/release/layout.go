package main

import (
	"encoding/json"
	"errors"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// imageLayout returns the image as an OCI image layout in a tar. Its manifest.json is for Docker
// engines that support only the format of "docker save", which has no index. For these, each
// platform is a separate image, NAME:TAG-ARCHITECTURE.
func (r *release) imageLayout(index v1.ImageIndex) ([]byte, error) {
	return r.layout(func(path layout.Path) error {
		if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{
			"io.containerd.image.name":          containerdName(r.name),
			"org.opencontainers.image.ref.name": r.name.TagStr(),
		})); err != nil {
			return err
		}
		saved, err := r.saved(index)
		if err != nil {
			return err
		}
		return path.WriteFile("manifest.json", saved, 0o644)
	})
}

// layout returns the OCI image layout that fill completes, in a tar.
func (r *release) layout(fill func(layout.Path) error) (packed []byte, err error) {
	dir, err := os.MkdirTemp("", "layout-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return nil, err
	}
	if err := fill(path); err != nil {
		return nil, err
	}
	all, err := entries(dir, "")
	if err != nil {
		return nil, err
	}
	return r.tarred(all)
}

// containerdName returns the name that containerd expects, including the registry that Docker
// omits.
func containerdName(tag name.Tag) string {
	registry := tag.RegistryStr()
	if registry == name.DefaultRegistry {
		registry = "docker.io"
	}
	return registry + "/" + tag.RepositoryStr() + ":" + tag.TagStr()
}

// saved returns the manifest that "docker save" would write for the index.
func (r *release) saved(index v1.ImageIndex) ([]byte, error) {
	manifests, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var all tarball.Manifest
	for _, m := range manifests.Manifests {
		image, err := index.Image(m.Digest)
		if err != nil {
			return nil, err
		}
		manifest, err := image.Manifest()
		if err != nil {
			return nil, err
		}
		all = append(all, tarball.Descriptor{
			Config:   blob(manifest.Config.Digest),
			RepoTags: []string{r.name.String() + "-" + m.Platform.Architecture},
			Layers:   []string{blob(manifest.Layers[0].Digest)},
		})
	}
	return json.Marshal(all)
}

func blob(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }
