package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"sigs.k8s.io/yaml"
)

// The media types of Helm's charts in registries.
const (
	helmConfig types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	helmChart  types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// chartVersion returns the version of the chart, which has no v: Helm looks for tags without it.
func (r *release) chartVersion() string { return strings.TrimPrefix(r.version, "v") }

// writeChart writes the chart twice: as the file that Helm installs and pushes, and as an OCI
// image layout, whose digest stays the same in every registry.
func (r *release) writeChart() error {
	dir := filepath.Join(r.source, "deploy/charts/workload-resizer")
	described, err := r.chartYAML(filepath.Join(dir, "Chart.yaml"))
	if err != nil {
		return err
	}
	// The folder ci has values for tests.
	all, err := entries(dir, "workload-resizer", "ci")
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].name == "workload-resizer/Chart.yaml" {
			all[i].content = described
		}
	}
	packed, err := r.tarred(all)
	if err != nil {
		return err
	}
	if packed, err = gzipped(packed); err != nil {
		return err
	}
	if err := r.add("workload-resizer-"+r.chartVersion()+".tgz", packed); err != nil {
		return err
	}
	artifact, err := r.layout(func(path layout.Path) error { return r.appendChart(path, described, packed) })
	if err != nil {
		return err
	}
	return r.add("workload-resizer_"+r.version+"_chart.tar", artifact)
}

// chartYAML returns Chart.yaml with the versions of the release. The version of the application
// is also the tag of the image that the chart installs.
func (r *release) chartYAML(file string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for key, value := range map[string]string{"version": r.chartVersion(), "appVersion": r.version} {
		line := regexp.MustCompile(`(?m)^` + key + `: .*$`)
		if found := line.FindAll(content, -1); len(found) != 1 {
			return nil, fmt.Errorf("%s has %d lines with the key %s, want 1", file, len(found), key)
		}
		content = line.ReplaceAllLiteral(content, []byte(key+": "+value))
	}
	return content, nil
}

// appendChart adds a chart to a layout in the form that "helm push" gives it in a registry.
func (r *release) appendChart(path layout.Path, described, packed []byte) error {
	config, err := yaml.YAMLToJSON(described)
	if err != nil {
		return err
	}
	var metadata struct{ Name, Description string }
	if err := json.Unmarshal(config, &metadata); err != nil {
		return err
	}
	manifest := v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
		Annotations: map[string]string{
			"org.opencontainers.image.title":       metadata.Name,
			"org.opencontainers.image.description": metadata.Description,
			"org.opencontainers.image.version":     r.chartVersion(),
			"org.opencontainers.image.source":      repository,
			"org.opencontainers.image.revision":    r.commit,
			"org.opencontainers.image.created":     r.created.Format(time.RFC3339),
		},
	}
	if manifest.Config, err = appendBlob(path, config, helmConfig); err != nil {
		return err
	}
	content, err := appendBlob(path, packed, helmChart)
	if err != nil {
		return err
	}
	manifest.Layers = []v1.Descriptor{content}
	raw, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	chart, err := appendBlob(path, raw, types.OCIManifestSchema1)
	if err != nil {
		return err
	}
	chart.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.chartVersion()}
	return path.AppendDescriptor(chart)
}

// appendBlob adds content to a layout, and returns what refers to it.
func appendBlob(path layout.Path, content []byte, kind types.MediaType) (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(content))
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{MediaType: kind, Size: size, Digest: digest}, path.WriteBlob(digest, io.NopCloser(bytes.NewReader(content)))
}
