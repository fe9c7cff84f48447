package export

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

func TestValues(t *testing.T) {
	t.Run("edits the values that a mapping names", editsTheValuesThatAMappingNames)
	t.Run("lists mappings that lead nowhere", listsMappingsThatLeadNowhere)
	t.Run("rejects mappings that lack a field", rejectsMappingsThatLackAField)
}

func rejectsMappingsThatLackAField(t *testing.T) {
	for _, text := range []string{"values:\n-\n", "values:\n- {workload: deployment/web, container: app, file: values.yaml}\n"} {
		dir := files(t, map[string]string{".resizer.yaml": text})
		code, stdout, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()))
		if want := "error: .resizer.yaml:2: expected workload ([NAMESPACE/]KIND/NAME), container, file and path\n"; code != command.ExitError || stdout != "" || stderr != want {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", text, code, stdout, stderr, want)
		}
	}
}

const mappings = `# where Helm has the amounts
values:
- {workload: shop/deployment/web, container: app, file: values.yaml, path: web.resources}
- {workload: Deployment/api, container: app, file: release.yaml, path: 'spec.values.pods[0]["main"].resources'}
- {workload: deployment/cd, container: app, file: release.yaml, path: spec.source.helm.values.web.resources}
`

func editsTheValuesThatAMappingNames(t *testing.T) {
	all := map[string]string{
		".resizer.yaml": mappings,
		"values.yaml":   "# the shop\nweb:\n  image: web\n  # We usually recommend not to specify default resources.\n  resources: {}\n",
		"release.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: &main main}\nspec:\n  values:\n    pods:\n    - *main :\n        resources:\n          requests: {cpu: '1', memory: 2Gi}\n" +
			"---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: cd}\nspec:\n  source:\n    helm:\n      values: |\n        # text\n        web:\n          resources:\n            limits:\n              memory: 1Gi\n        more: 1\n  destination: {}\n",
	}
	dir := files(t, all)
	from := usage(t, web(), of("Deployment", "api", "app", "250m", "256Mi"), of("Deployment", "cd", "app", "250m", "256Mi"))
	code, _, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", from, "--write")
	if code != command.ExitOK || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	before := texts(t, files(t, all))
	all["values.yaml"] = strings.Replace(all["values.yaml"], "{}", "{requests: {cpu: 250m, memory: 256Mi}}", 1)
	all["release.yaml"] = strings.NewReplacer("{cpu: '1', memory: 2Gi}", "{cpu: '250m', memory: 256Mi}",
		"              memory: 1Gi\n", "              memory: 512Mi\n            requests:\n              cpu: 250m\n              memory: 256Mi\n").Replace(all["release.yaml"])
	got := texts(t, dir)
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
	unharmed(t, before, got)
	if code, diff, _ := program.Shell(t.Context(), "export", "-f", dir, "--from", from); code != command.ExitOK || diff != "" {
		t.Errorf("twice: exit %d, diff\n%s", code, diff)
	}
}

func listsMappingsThatLeadNowhere(t *testing.T) {
	for _, tc := range []struct{ mapping, listed string }{
		{"file: none.yaml, path: web.resources", "none.yaml is not a YAML file in the directory"},
		{"file: ../web.yaml, path: web.resources", "../web.yaml is not a YAML file in the directory"},
		{"file: values.yaml, path: app.resources", "values.yaml has no app.resources"},
		{"file: values.yaml, path: 'a[[.b'", "is not like web.resources"},
		{"file: values.yaml, path: web.image.resources", "it is not a mapping, or a block of text that starts with |"},
		{"file: twice.yaml, path: web.resources", "twice.yaml has several documents with web.resources"},
		{"file: sops.yaml, path: web.resources", "sops.yaml:2: SOPS signs it"},
	} {
		dir := files(t, map[string]string{
			".resizer.yaml": "values:\n- {workload: deployment/web, container: app, " + tc.mapping + "}\n", "values.yaml": "web:\n  image: web\n",
			"twice.yaml": "web: {resources: {}}\n---\nweb: {resources: {}}\n", "sops.yaml": "web: {resources: {}}\nsops: {mac: ENC[A]}\n",
		})
		code, stdout, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()))
		if code != command.ExitOK || stdout != "" || !strings.Contains(stderr, ".resizer.yaml:2: shop/deployment/web container app: ") || !strings.Contains(stderr, tc.listed) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", tc.mapping, code, stdout, stderr)
		}
	}
}
