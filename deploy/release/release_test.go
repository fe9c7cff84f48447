package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"sigs.k8s.io/yaml"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// example returns a release whose programs are this test, which Go built from modules too.
func example(t *testing.T) *release {
	t.Helper()
	tag, err := name.NewTag("example.com/workload-resizer:v1")
	if err != nil {
		t.Fatal(err)
	}
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &release{
		version: "v1.2.3", commit: commit, created: time.Unix(1_700_000_000, 0).UTC(), name: tag,
		platforms: []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64"},
		programs:  t.TempDir(), source: "../..", output: t.TempDir(),
	}
	for _, platform := range r.platforms {
		for _, program := range programsOn(platform) {
			path := r.program(program, platform)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(test, path); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

// made writes a release, and returns its files by name.
func made(t *testing.T, r *release) map[string][]byte {
	t.Helper()
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	return filesIn(t, r.output)
}

func filesIn(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found, err := entries(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, e := range found {
		all[e.name] = e.content
	}
	return all
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// ungzipped returns the files in a compressed tar.
func ungzipped(t *testing.T, content []byte) map[string]*tar.Header {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return files(t, unpacked)
}

func TestRelease(t *testing.T) {
	r := example(t)
	all := made(t, r)
	t.Run("archives have the programs of their platform", func(t *testing.T) { archivesHaveTheProgramsOfTheirPlatform(t, all) })
	t.Run("checksums cover every file", func(t *testing.T) { checksumsCoverEveryFile(t, r, all) })
	t.Run("krew finds the plugin in each archive", func(t *testing.T) { krewFindsThePluginInEachArchive(t, r, all) })
	t.Run("a version that is not semantic is refused", aVersionThatIsNotSemanticIsRefused)
	t.Run("a release without linux is refused", aReleaseWithoutLinuxIsRefused)
	t.Run("a CLI that is too large is refused", aCLIThatIsTooLargeIsRefused)
}

func archivesHaveTheProgramsOfTheirPlatform(t *testing.T, all map[string][]byte) {
	for platform, want := range map[string]map[string]int64{
		"linux_amd64":  {"LICENSE": 0o644, "README.md": 0o644, "kubectl_complete-workload_resizer": 0o755, "resizectl": 0o755, "workload-resizer": 0o755},
		"linux_arm64":  {"LICENSE": 0o644, "README.md": 0o644, "kubectl_complete-workload_resizer": 0o755, "resizectl": 0o755, "workload-resizer": 0o755},
		"darwin_amd64": {"LICENSE": 0o644, "README.md": 0o644, "kubectl_complete-workload_resizer": 0o755, "resizectl": 0o755},
		"darwin_arm64": {"LICENSE": 0o644, "README.md": 0o644, "kubectl_complete-workload_resizer": 0o755, "resizectl": 0o755},
	} {
		got := map[string]int64{}
		for name, header := range ungzipped(t, all["workload-resizer_v1.2.3_"+platform+".tar.gz"]) {
			got[name] = header.Mode
			// krew unpacks nothing else.
			if header.Typeflag != tar.TypeReg {
				t.Errorf("%s: %s is not a regular file", platform, name)
			}
			if header.ModTime.Unix() != 1_700_000_000 || header.Uid != 0 || header.Gid != 0 {
				t.Errorf("%s: %s is of %v and %d:%d", platform, name, header.ModTime, header.Uid, header.Gid)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", platform, got, want)
		}
	}
}

func checksumsCoverEveryFile(t *testing.T, r *release, all map[string][]byte) {
	shell(t, r.output, "sha256sum --check --ignore-missing SHA256SUMS")
	var want []string
	for name, content := range all {
		if name != "SHA256SUMS" {
			want = append(want, sumOf(content)+"  "+name)
		}
	}
	got := strings.Split(strings.TrimSpace(string(all["SHA256SUMS"])), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func krewFindsThePluginInEachArchive(t *testing.T, r *release, all map[string][]byte) {
	var manifest krewManifest
	if err := yaml.UnmarshalStrict(all["workload-resizer.yaml"], &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Spec.Version != r.version || len(manifest.Spec.Platforms) != len(r.platforms) {
		t.Errorf("got %+v", manifest.Spec)
	}
	for i, p := range manifest.Spec.Platforms {
		if on := p.Selector.MatchLabels["os"] + "/" + p.Selector.MatchLabels["arch"]; on != r.platforms[i] {
			t.Errorf("platform %d is %s, want %s", i, on, r.platforms[i])
		}
		name, ok := strings.CutPrefix(p.URI, "https://github.com/workload-resizer/workload-resizer/releases/download/v1.2.3/")
		if !ok || sumOf(all[name]) != p.SHA256 {
			t.Errorf("%s has not the checksum %s", p.URI, p.SHA256)
		}
		installed := map[string]bool{}
		for _, f := range p.Files {
			if ungzipped(t, all[name])[f.From] == nil {
				t.Errorf("%s does not have %s", name, f.From)
			}
			installed[f.To] = true
		}
		if !installed[p.Bin] || p.Bin != "kubectl-workload_resizer" {
			t.Errorf("%s: %s is not installed", name, p.Bin)
		}
	}
}

// refused checks that a release is not written, for a reason.
func refused(t *testing.T, r *release, want string) {
	t.Helper()
	if err := r.write(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if all := filesIn(t, r.output); len(all) > 0 {
		t.Errorf("wrote %v", slices.Collect(maps.Keys(all)))
	}
}

func aVersionThatIsNotSemanticIsRefused(t *testing.T) {
	for _, version := range []string{"development", "1.2.3", "v1.2", "v1.2.3+dirty", ""} {
		r := example(t)
		r.version = version
		refused(t, r, "is not a semantic version such as v1.2.3")
	}
}

func aReleaseWithoutLinuxIsRefused(t *testing.T) {
	r := example(t)
	r.platforms = []string{"darwin/arm64"}
	refused(t, r, "do not include linux, which the image needs")
}

func aCLIThatIsTooLargeIsRefused(t *testing.T) {
	r := example(t)
	large := r.program("resizectl", "linux/amd64")
	if err := os.Remove(large); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, make([]byte, maxCLI+100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, r, "resizectl for linux/amd64 has 60.1 MB, but must not have more than 60 MB")
}
