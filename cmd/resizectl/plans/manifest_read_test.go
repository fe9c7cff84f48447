package plans

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestManifestsAreJoined(t *testing.T) {
	dir, empty := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"b.yml": "kind: B", "a.yaml": "kind: A", "c.json": `{"kind": "C"}`, "README.md": "no"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "more.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	one, blank, latin := cmdtest.File(t, "one", []byte("kind: One")), cmdtest.File(t, "blank", []byte(" \n")), cmdtest.File(t, "latin", []byte("name: caf\xe9"))
	for _, tc := range []struct {
		name, want, stderr string
		files              []string
	}{
		{"joins files in the order of their flags", "kind: One\n---\nkind: B", "", []string{one, filepath.Join(dir, "b.yml")}},
		{"reads a directory by name", "kind: A\n---\nkind: B\n---\n{\"kind\": \"C\"}", "", []string{dir}},
		{"joins a directory, standard input and a file", "kind: A\n---\nkind: B\n---\n{\"kind\": \"C\"}\n---\nkind: In\n---\nkind: One", "", []string{dir, "-", one}},
		{"drops the byte order mark of each file", "kind: One\n---\nkind: Marked", "", []string{one, cmdtest.File(t, "marked", []byte("\uFEFFkind: Marked"))}},
		{"rejects a directory without manifests", "", "error: read the manifests: no *.yaml, *.yml or *.json found in " + empty + ": name a file or another directory\n", []string{one, empty}},
		{"rejects a missing file", "", "error: read the manifest: nowhere does not exist: check the name of the file\n", []string{one, "nowhere"}},
		{"rejects blank files", "", "error: read the manifest: nothing found in " + blank + ", " + blank + ": name a file with an object\n", []string{blank, blank}},
		{"rejects another encoding", "", "error: read the manifest: " + latin + " is not UTF-8 text, but binary or in another encoding: save it as UTF-8, or name a text file\n", []string{one, latin}},
		{"rejects standard input twice", "", "error: standard input (-f -) can be read only once; see \"resizectl plan --help\"\n", []string{"-", one, "-"}},
		{"rejects an empty name", "", "error: the name of the manifest is empty; see \"resizectl plan --help\"\n", []string{""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &cmdtest.Fake{}
			args := []string{"plan", "--server", server.Serve(t)}
			for _, file := range tc.files {
				args = append(args, "-f", file)
			}
			var out, errOut bytes.Buffer
			program(t.Context(), genericiooptions.IOStreams{In: strings.NewReader("kind: In"), Out: &out, ErrOut: &errOut}, args)
			asked, _ := server.LastRequest().(*workloadresizerv1.PreviewManifestRequest)
			if asked.GetManifest() != tc.want || errOut.String() != tc.stderr {
				t.Errorf("requested %q, want %q; stderr %q, want %q", asked.GetManifest(), tc.want, &errOut, tc.stderr)
			}
		})
	}
}

// The server, which is the real one here, knows only the manifest that results from all files.
func TestManifestErrorsNameTheFile(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: app}]}\n"
	good := cmdtest.File(t, "good.yaml", []byte(pod+"---\n"+pod))
	bare := cmdtest.File(t, "bare.yaml", []byte(strings.TrimSuffix(pod, "\n")))
	json := cmdtest.File(t, "good.json", []byte("{\"apiVersion\": \"v1\",\n\"kind\": \"Service\"}"))
	for _, tc := range []struct{ name, text, want string }{
		{"a fault of the first document", strings.Replace(pod, "app", "App", 1), " (line 4): Pod web: spec.containers[0].name: "},
		{"a fault of a later document", pod + "---\n" + strings.Replace(pod, "app", "App", 1), " (line 9): Pod web: spec.containers[0].name: "},
		{"a document that begins with ---", "---\n" + strings.Replace(pod, "app", "App", 1), " (line 5): Pod web: spec.containers[0].name: "},
		{"a fault of JSON", "\n\n{\"kind\": \"Pod\"}", " (line 3): must be a Kubernetes object with apiVersion and kind"},
		{"aliases of too much", "a: &a [" + strings.Repeat("1,", 2000) + "]\nb: *a\n", " (line 2): the YAML aliases up to *a stand for more than"},
		{"a fault after a definition", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\nspec: {}\n---\n" + strings.Replace(pod, "app", "App", 1), " (line 9): Pod web: spec.containers[0].name: "},
		{"text that is not YAML", pod + "---\na: b\nc: d: e\n", ": yaml: line 7: mapping values are not allowed in this context"},
		{"a key twice", pod + "---\na: b\nc: d\nc: e\nc: f\n", ": yaml: unmarshal errors: line 8: key \"c\" already set in map; line 9: key \"c\" already set in map"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bad := cmdtest.File(t, "bad.yaml", []byte(tc.text))
			for _, files := range [][]string{{bad}, {bad, good}, {good, bad, json}, {bare, json, good, bad}} {
				args := []string{"plan", "--config", filepath.Join("..", "configs", "testdata", "config.yaml")}
				for _, file := range files {
					args = append(args, "-f", file)
				}
				code, stdout, stderr := program.Shell(t.Context(), args...)
				if code != command.ExitError || stdout != "" || !strings.HasPrefix(stderr, "error: "+bad+tc.want) {
					t.Errorf("%d files: exit %d, stdout %q, stderr\n%s\nwant\n%s%s", len(files), code, stdout, stderr, bad, tc.want)
				}
			}
		})
	}
}

// The advice about a manifest without planned objects depends on what it has instead.
func TestManifestWithoutPlannedObjects(t *testing.T) {
	for text, want := range map[string]string{
		"{apiVersion: v1, kind: Service, metadata: {name: web}}": "; ignored: Service web: name a manifest with a pod or a workload\n",
		"{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: web}, spec: {template: {spec: {containers: [{name: app}]}}}}": " has no object that is planned; Rollout web is not planned: " +
			"apiVersion argoproj.io/v1alpha1, kind Rollout seems to create pods, but is not known: add rollouts.argoproj.io to --workload-kinds if it has a spec.template\n",
	} {
		code, _, stderr := program.Shell(t.Context(), "plan", "--config", filepath.Join("..", "configs", "testdata", "config.yaml"), "-f", cmdtest.File(t, "objects.yaml", []byte(text)))
		if code != command.ExitError || !strings.HasSuffix(stderr, want) {
			t.Errorf("exit %d, stderr %q; want %q", code, stderr, want)
		}
	}
}

func TestManifestSize(t *testing.T) {
	half := cmdtest.File(t, "half", bytes.Repeat([]byte("#"), client.MaxManifestBytes/2))
	most := cmdtest.File(t, "most", append([]byte("{}\n"), bytes.Repeat([]byte("#"), client.MaxManifestBytes-3)...))
	large := cmdtest.File(t, "large", bytes.Repeat([]byte("#"), client.MaxManifestBytes+1))
	definitions := cmdtest.File(t, "definitions", append([]byte("kind: CustomResourceDefinition\nx: "), bytes.Repeat([]byte("x"), 2*client.MaxManifestBytes)...))
	for _, tc := range []struct {
		name, want string
		files      []string
	}{
		{"as large as the server accepts", "error: " + most + " (line 1): must be a Kubernetes object", []string{most}},
		{"one file", "error: " + large + " has 1048577 bytes, but a manifest can have at most 1048576 (1 MiB): split it into files, and plan them one at a time\n", []string{large}},
		{"a large file of definitions", "error: " + definitions + " has no object that creates pods", []string{definitions}},
		{"files that are too large together", "error: the 2 files have 1048581 bytes together, but a manifest can have at most 1048576 (1 MiB): plan fewer files at a time\n", []string{half, half}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := []string{"plan", "--config", filepath.Join("..", "configs", "testdata", "config.yaml")}
			for _, file := range tc.files {
				args = append(args, "-f", file)
			}
			if code, _, stderr := program.Shell(t.Context(), args...); code != command.ExitError || !strings.HasPrefix(stderr, tc.want) {
				t.Errorf("exit %d, stderr %q; want %q", code, stderr, tc.want)
			}
		})
	}
}
