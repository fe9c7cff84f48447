package export

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

func TestRender(t *testing.T) {
	web2 := strings.ReplaceAll(deployment(sized), "name: web", "name: other")
	all := map[string]string{"web.yaml": "---\n" + deployment("        resources: {requests: {cpu: 1000m}, limits: {cpu: 2}}\n"), "other.yaml": "---\n" + web2}
	for _, tc := range []struct{ name, render, fault string }{
		{"accepts the intended amounts", "cat %s/*.yaml", ""},
		{"accepts values that always differ", "cat %s/*.yaml; echo '---\nkind: A\nmetadata: {name: '$$$(date +%%N)'}'", ""},
		{"restores files if something else differs", "cat %[1]s/*.yaml; grep -q 250m %[1]s/web.yaml && sed 's/name: web/name: new/' %[1]s/web.yaml; true", "--render prints 3 objects instead of 2"},
		{"restores files if another object differs", "cd %s; if grep -q 250m web.yaml; then sed 's/1/2/' other.yaml; else cat other.yaml; fi; echo ---; cat web.yaml", "--render shows a different "},
		{"restores files if nothing differs", "echo '---\nkind: A\n' # %s", "--render prints 0 objects that may be shop/deployment/web instead of 1"},
		{"restores files if the command fails later", "cat %[1]s/*.yaml; ! grep -q 250m %[1]s/web.yaml", "run --render"},
		{"restores files if another file has a lower limit", "sed 's/limits: {/limits: {memory: 64Mi, /' %s/web.yaml", "shop/deployment/web container app would request more memory (256Mi) than its limit (64Mi)"},
		{"changes nothing if the command fails", "exit 3 # %s", "exit status 3"},
		{"changes nothing if the command prints no YAML", "echo '{' # %s", "read what --render"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := files(t, all)
			code, stdout, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()), "--write", "--render", fmt.Sprintf(tc.render, dir))
			if tc.fault == "" {
				if code != command.ExitOK || stderr != "" || !strings.HasPrefix(stdout, "Resize 1 workload by usage\n") {
					t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
				}
				return
			}
			if code != command.ExitError || stdout != "" || !strings.Contains(stderr, tc.fault) {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, tc.fault)
			}
			if diff := cmp.Diff(all, texts(t, dir)); diff != "" {
				t.Errorf("not restored (-want +got):\n%s", diff)
			}
		})
	}
}
