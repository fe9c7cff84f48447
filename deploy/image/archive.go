package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// write writes the tar, an OCI image layout. Its manifest.json is for Docker engines that
// support only the format of "docker save", which has no index. For these, each platform is a
// separate image, NAME:TAG-ARCHITECTURE.
func (b *build) write(index v1.ImageIndex, output string) (err error) {
	dir, err := os.MkdirTemp("", "image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          containerdName(b.name),
		"org.opencontainers.image.ref.name": b.name.TagStr(),
	})); err != nil {
		return err
	}
	saved, err := b.saved(index)
	if err != nil {
		return err
	}
	if err := path.WriteFile("manifest.json", saved, 0o644); err != nil {
		return err
	}
	return b.pack(dir, output)
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
func (b *build) saved(index v1.ImageIndex) ([]byte, error) {
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
			RepoTags: []string{b.name.String() + "-" + m.Platform.Architecture},
			Layers:   []string{blob(manifest.Layers[0].Digest)},
		})
	}
	return json.Marshal(all)
}

func blob(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }

// pack packs a directory into a tar, in the order of file names and with b.created as the only
// time.
func (b *build) pack(dir, output string) (err error) {
	file, err := os.Create(output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := tar.NewWriter(file)
	if err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: b.created, Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	}); err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	return w.Close()
}
