package plans

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
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
		{"rejects a directory without manifests", "", "error: read the manifests: no *.yaml, *.yml or *.json found in " + empty + "\n", []string{one, empty}},
		{"rejects a missing file", "", "error: read the manifest: stat nowhere: no such file or directory\n", []string{one, "nowhere"}},
		{"rejects blank files", "", "error: read the manifest: nothing found in " + blank + ", " + blank + "\n", []string{blank, blank}},
		{"rejects another encoding", "", "error: read the manifest: " + latin + " is not UTF-8 text\n", []string{one, latin}},
		{"rejects standard input twice", "", "error: standard input (-f -) can be read only once\nsee \"resizectl plan --help\"\n", []string{"-", one, "-"}},
		{"rejects an empty name", "", "error: the name of the manifest is empty\nsee \"resizectl plan --help\"\n", []string{""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &cmdtest.Server{}
			server.Resizing.Manifest = &workloadresizerv1.PreviewManifestResponse{}
			args := []string{"plan", "--server", cmdtest.Serve(t, server)}
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
