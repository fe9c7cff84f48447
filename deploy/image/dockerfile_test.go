package main

import (
	"os"
	"reflect"
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
	t.Run("the Dockerfile builds the same image as make image", theDockerfileBuildsTheSameImageAsMakeImage)
}

func theDockerfileBuildsTheSameImageAsMakeImage(t *testing.T) {
	b, binaries := example(t)
	index, err := b.index(binaries)
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
	arguments := map[string]string{"$VERSION": b.version, "$REVISION": b.revision, "$CREATED": "2023-11-14T22:13:20Z"}
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
