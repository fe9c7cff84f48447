package main

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lastStage returns the instructions of the last stage of the Dockerfile, by name.
func lastStage(t *testing.T) map[string][]string {
	t.Helper()
	content, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var stage map[string][]string
	for line := range strings.Lines(strings.ReplaceAll(string(content), "\\\n", " ")) {
		instruction, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if instruction == "" || strings.HasPrefix(instruction, "#") {
			continue
		}
		if instruction == "FROM" {
			stage = map[string][]string{}
		}
		stage[instruction] = append(stage[instruction], rest)
	}
	return stage
}

func TestDockerfile(t *testing.T) {
	t.Run("the Dockerfile links the version as make does", theDockerfileLinksTheVersionAsMakeDoes)
	t.Run("the base image is pinned", theBaseImageIsPinned)
	t.Run("the Dockerfile copies all that the server imports", theDockerfileCopiesAllThatTheServerImports)
	t.Run("the Dockerfile builds the same image as make image", theDockerfileBuildsTheSameImageAsMakeImage)
}

func theDockerfileBuildsTheSameImageAsMakeImage(t *testing.T) {
	r := example(t)
	index, err := r.index()
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	image, err := index.Image(manifests.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want, got := file.Config, lastStage(t)
	// The builder fills these in.
	arguments := map[string]string{"$VERSION": r.version, "$REVISION": r.commit, "$CREATED": "2023-11-14T22:13:20Z"}
	labels := map[string]string{}
	for _, label := range got["LABEL"] {
		key, value, _ := strings.Cut(label, "=")
		value = strings.Trim(value, `"`)
		if argument, ok := arguments[value]; ok {
			value = argument
		}
		labels[key] = value
	}
	if !reflect.DeepEqual(labels, want.Labels) {
		t.Errorf("labels\n%v, want\n%v", labels, want.Labels)
	}
	ports := map[string]struct{}{}
	for _, port := range strings.Fields(strings.Join(got["EXPOSE"], " ")) {
		ports[port] = struct{}{}
	}
	if !reflect.DeepEqual(ports, want.ExposedPorts) {
		t.Errorf("ports %v, want %v", ports, want.ExposedPorts)
	}
	for instruction, value := range map[string]string{
		"FROM":       "scratch",
		"USER":       want.User,
		"ENTRYPOINT": `["` + want.Entrypoint[0] + `"]`,
		"COPY":       "--from=build " + entrypoint + " " + entrypoint,
	} {
		if !reflect.DeepEqual(got[instruction], []string{value}) {
			t.Errorf("%s %q, want %s", instruction, got[instruction], value)
		}
	}
	for _, other := range []string{"CMD", "ENV", "VOLUME", "WORKDIR", "ADD", "RUN"} {
		if len(got[other]) > 0 {
			t.Errorf("the Dockerfile has %s %q, which the image of make image does not have", other, got[other])
		}
	}
}

func theDockerfileLinksTheVersionAsMakeDoes(t *testing.T) {
	linked := regexp.MustCompile(`-X \S+/version\.(version|commit)=\S+`)
	makefile := shell(t, "../..", "make --no-print-directory -n image PLATFORMS=linux/amd64 VERSION='$$VERSION' COMMIT='$$REVISION'")
	dockerfile := shell(t, "../..", `grep -v '^#' Dockerfile | sed "s|\$PACKAGE|$(sed -n 's/^ARG PACKAGE=//p' Dockerfile)|g; s/\"/ /g"`)
	trim := func(text string) (all []string) {
		for _, flag := range linked.FindAllString(text, -1) {
			all = append(all, strings.TrimRight(flag, "'"))
		}
		return all
	}
	if got, want := trim(dockerfile), trim(makefile); len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("the Dockerfile links %q, make links %q", got, want)
	}
}

func theBaseImageIsPinned(t *testing.T) {
	content, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^FROM --platform=\$BUILDPLATFORM golang:1\.\d+\.\d+-\w+@sha256:[0-9a-f]{64} AS build$`).Match(content) {
		t.Error("the Dockerfile does not name a patch release of Go with its digest")
	}
}

func theDockerfileCopiesAllThatTheServerImports(t *testing.T) {
	ignored, err := os.ReadFile("../../.dockerignore")
	if err != nil {
		t.Fatal(err)
	}
	copied := strings.Split(string(ignored), "\n")
	const project = "github.com/workload-resizer/workload-resizer/"
	for line := range strings.Lines(shell(t, "../..", "go list -deps ./cmd/workload-resizer")) {
		if path, ours := strings.CutPrefix(strings.TrimSpace(line), project); ours {
			folder, _, _ := strings.Cut(path, "/")
			if !slices.Contains(copied, "!"+folder) {
				t.Errorf(".dockerignore omits %s", path)
			}
		}
	}
}
