package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// state matches the versions of checkouts without a tag, or with changes.
var state = regexp.MustCompile(`-g[0-9a-f]{12,}(-dirty)?$|-dirty$`)

// statement is an in-toto statement with the provenance of SLSA as its predicate. The types of
// in-toto's own module are protobuf messages, whose JSON differs from build to build.
type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

type resource struct {
	Name        string            `json:"name,omitempty"`
	URI         string            `json:"uri,omitempty"`
	Digest      map[string]string `json:"digest,omitempty"`
	Annotations map[string]any    `json:"annotations,omitempty"`
}

type provenance struct {
	BuildDefinition buildDefinition `json:"buildDefinition"`
	RunDetails      runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	BuildType            string         `json:"buildType"`
	ExternalParameters   map[string]any `json:"externalParameters"`
	ResolvedDependencies []resource     `json:"resolvedDependencies"`
}

type runDetails struct {
	Builder builder `json:"builder"`
}

// builder says who made the release: anyone who ran make, since nothing signs the statement.
type builder struct {
	ID      string            `json:"id"`
	Version map[string]string `json:"version"`
}

// writeProvenance writes what the files before it were built from. It has no times, so that a
// second build can be compared with the first.
func (r *release) writeProvenance() error {
	var goVersion string
	modules := map[string]module{}
	for _, platform := range r.platforms {
		for _, program := range programsOn(platform) {
			from, err := inspected(r.program(program, platform))
			if err != nil {
				return err
			}
			goVersion = from.goVersion
			for _, m := range from.modules {
				modules[m.purl()] = m
			}
		}
	}
	uri := "git+" + repository
	if state.FindString(r.version) == "" {
		uri += "@refs/tags/" + r.version
	}
	source := resource{Name: "source", URI: uri, Digest: map[string]string{"gitCommit": r.commit}}
	if strings.HasSuffix(r.version, "-dirty") {
		source.Annotations = map[string]any{"uncommittedChanges": true}
	}
	dependencies := []resource{source, {Name: "go", URI: module{path: "stdlib", version: goVersion}.purl()}}
	for _, purl := range slices.Sorted(maps.Keys(modules)) {
		dependencies = append(dependencies, resource{URI: purl, Digest: map[string]string{"dirHash": modules[purl].h1}})
	}
	made := statement{
		Type:          "https://in-toto.io/Statement/v1",
		PredicateType: "https://slsa.dev/provenance/v1",
		Predicate: provenance{
			BuildDefinition: buildDefinition{
				BuildType:            repository + "/blob/main/CONTRIBUTING.md#releases",
				ExternalParameters:   map[string]any{"source": uri, "version": r.version, "platforms": r.platforms},
				ResolvedDependencies: dependencies,
			},
			RunDetails: runDetails{Builder: builder{ID: repository + "/tree/main/deploy/release", Version: map[string]string{"go": goVersion, "workload-resizer": r.version}}},
		},
	}
	for _, f := range r.files {
		made.Subject = append(made.Subject, resource{Name: f.name, Digest: map[string]string{"sha256": f.sha256}})
	}
	content, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return err
	}
	return r.add("provenance.intoto.json", append(content, '\n'))
}
