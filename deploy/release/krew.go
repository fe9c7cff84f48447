package main

import (
	"strings"

	"sigs.k8s.io/yaml"
)

// krewManifest describes the kubectl plugin to krew.
type krewManifest struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   krewName `json:"metadata"`
	Spec       krewSpec `json:"spec"`
}

type krewName struct {
	Name string `json:"name"`
}

type krewSpec struct {
	Version          string         `json:"version"`
	Homepage         string         `json:"homepage"`
	ShortDescription string         `json:"shortDescription"`
	Description      string         `json:"description"`
	Platforms        []krewPlatform `json:"platforms"`
}

type krewPlatform struct {
	Selector krewSelector `json:"selector"`
	URI      string       `json:"uri"`
	SHA256   string       `json:"sha256"`
	Files    []krewFile   `json:"files"`
	Bin      string       `json:"bin"`
}

type krewSelector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

type krewFile struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// writeKrewManifest writes the manifest under the name that an index of krew expects. krew
// installs resizectl under the name of the plugin.
func (r *release) writeKrewManifest() error {
	const plugin = "kubectl-workload_resizer"
	manifest := krewManifest{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin",
		Metadata: krewName{Name: "workload-resizer"},
		Spec: krewSpec{
			Version:          r.version,
			Homepage:         repository,
			ShortDescription: "Show what workload-resizer does with pods, and why",
			Description: `Shows the plan of workload-resizer for each pod, the ratios of node types, and why a
pod was not resized. Pauses and restores pods, and sets ratios. It calls the server
of workload-resizer in the cluster, or plans without a server.
`,
		},
	}
	sums := map[string]string{}
	for _, f := range r.files {
		sums[f.name] = f.sha256
	}
	for _, platform := range r.platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		archive := r.archive(platform)
		manifest.Spec.Platforms = append(manifest.Spec.Platforms, krewPlatform{
			Selector: krewSelector{MatchLabels: map[string]string{"os": system, "arch": architecture}},
			URI:      r.download(archive),
			SHA256:   sums[archive],
			Files:    []krewFile{{From: "resizectl", To: plugin}, {From: "LICENSE", To: "."}},
			Bin:      plugin,
		})
	}
	content, err := yaml.Marshal(manifest)
	if err != nil {
		return err
	}
	return r.add("workload-resizer.yaml", content)
}

// download returns the URL of a file of the release.
func (r *release) download(file string) string {
	return repository + "/releases/download/" + r.version + "/" + file
}
