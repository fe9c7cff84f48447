package export

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// overlaid is a base that two overlays use, of which prod has a patch.
func overlaid() map[string]string {
	return map[string]string{
		"base/kustomization.yaml": "resources:\n- web.yaml\n",
		"base/web.yaml":           strings.Replace(deployment("        resources:\n          requests: {cpu: 100m, memory: 1Gi}\n      - name: log\n        image: log\n"), "  namespace: shop\n", "", 1),
		"test/kustomization.yaml": "resources: [../base]\nnamespace: test\n",
		"prod/kustomization.yaml": "# production\nresources:\n- ../base\nnamespace: shop\npatches:\n- path: web.yaml\n# the end\n",
		"prod/web.yaml":           "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        resources:\n          requests:\n            cpu: 1 # more\n",
	}
}

func TestKustomize(t *testing.T) {
	t.Run("edits a base that has one overlay, and the patches that count", editsABaseThatHasOneOverlay)
	t.Run("edits the patch of an overlay, and inserts what the base has", editsThePatchOfAnOverlay)
	t.Run("keeps the order of containers, and quotes names that YAML reads as numbers", keepsTheOrderOfContainers)
	t.Run("writes a patch for what several overlays use", writesAPatchForWhatSeveralOverlaysUse)
	t.Run("writes a patch for one of several objects that a patch changes", writesAPatchForOneOfSeveralObjects)
	t.Run("counts no patch that the overlay cannot list", countsNoPatchThatTheOverlayCannotList)
	t.Run("sizes an overlay that others include", sizesAnOverlayThatOthersInclude)
	t.Run("edits what neither inline patches for other objects change nor a hidden base limits", editsWhatNothingElseChanges)
}

func writesAPatchForOneOfSeveralObjects(t *testing.T) {
	all := map[string]string{
		"kustomization.yaml": "resources: [web.yaml, api.yaml]\npatches:\n- {path: all.yaml, target: {kind: Deployment}}\n",
		"web.yaml":           deployment(""), "api.yaml": strings.ReplaceAll(deployment(""), "name: web", "name: api"), "all.yaml": strings.ReplaceAll(deployment(sized), "name: web", "name: all"),
	}
	dir := files(t, all)
	args := []string{"export", "-f", dir, "--from", usage(t, of("Deployment", "web", "app", "250m", ""), of("Deployment", "api", "app", "500m", "")), "--overlay", dir}
	if code, _, stderr := program.Shell(t.Context(), append(args, "--write")...); code != command.ExitOK || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	all["kustomization.yaml"] += "- path: resizer-deployment-api.yaml\n- path: resizer-deployment-web.yaml\n"
	for name, cpu := range map[string]string{"api": "500m", "web": "250m"} {
		all["resizer-deployment-"+name+".yaml"] = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " + name + "\n  namespace: shop\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        resources:\n          requests:\n            cpu: \"" + cpu + "\"\n"
	}
	if diff := cmp.Diff(all, texts(t, dir)); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
	if code, diff, stderr := program.Shell(t.Context(), args...); code != command.ExitOK || diff != "" {
		t.Errorf("twice: exit %d, stderr %q, diff\n%s", code, stderr, diff)
	}
}

func countsNoPatchThatTheOverlayCannotList(t *testing.T) {
	all := overlaid()
	all["prod/kustomization.yaml"] = "resources: [../base]\nnamespace: shop\npatches:\n# - path: web.yaml\n"
	delete(all, "prod/web.yaml")
	all["api.yaml"] = strings.ReplaceAll(deployment(sized), "name: web", "name: api")
	dir := files(t, all)
	code, stdout, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web(), of("Deployment", "api", "app", "250m", "")), "--overlay", filepath.Join(dir, "prod"), "--write")
	if code != command.ExitOK || !strings.HasPrefix(stdout, "Resize 1 workload by usage\n") || strings.Contains(stdout, "deployment/web") || !strings.Contains(stderr, "base/web.yaml:1: Deployment web: it needs a patch, which prod/kustomization.yaml cannot list\n") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func sizesAnOverlayThatOthersInclude(t *testing.T) {
	all := overlaid()
	all["test/kustomization.yaml"] = "resources: [../base]\nnamespace: test\npatches: [{path: web.yaml}]\n"
	all["test/web.yaml"] = all["prod/web.yaml"]
	all["prod/kustomization.yaml"] = "resources: [../test]\nnamespace: shop\n"
	delete(all, "prod/web.yaml")
	dir := files(t, all)
	args := []string{"export", "-f", dir, "--from", usage(t, of("Deployment", "web", "app", "2", ""), of("Deployment", "web", "app", "250m", "").with("namespace", "test"))}
	for _, tc := range []struct {
		overlay, listed, diff string
		code                  int
	}{
		{"", "test/web.yaml:9: Deployment web container app: several overlays use it: prod, test; with --overlay", "", command.ExitOK},
		{"test", "test/web.yaml:9: Deployment web container app: a patch in test would change the overlays that include it, too", "", command.ExitOK},
		{"prod", "", "+++ b/prod/resizer-deployment-web.yaml\n", command.ExitDifferences},
	} {
		more := args
		if tc.overlay != "" {
			more = append(args[:len(args):len(args)], "--overlay", filepath.Join(dir, tc.overlay))
		}
		code, diff, stderr := program.Shell(t.Context(), more...)
		if code != tc.code || !strings.Contains(stderr, tc.listed) || !strings.Contains(diff, tc.diff) || tc.diff == "" && diff != "" {
			t.Errorf("%q: exit %d, stderr %q, diff\n%s", tc.overlay, code, stderr, diff)
		}
	}
}

func editsWhatNothingElseChanges(t *testing.T) {
	lower := []item{of("Deployment", "web", "app", "250m", "")}
	other := strings.ReplaceAll(deployment(sized), "name: web", "name: api")
	for name, all := range map[string]map[string]string{
		"another object has an inline patch": {"kustomization.yaml": "resources: [web.yaml]\npatches:\n- patch: |-\n    " + strings.ReplaceAll(other, "\n", "\n    ") + "\n", "web.yaml": deployment(sized)},
		"a component has it in a directory":  {"kustomization.yaml": "components: [c]\n", "c/kustomization.yaml": "kind: Component\nresources: [inner]\n", "c/inner/kustomization.yaml": "resources: [web.yaml]\n", "c/inner/web.yaml": deployment(sized)},
		"a hidden base has more":             {"kustomization.yaml": "resources: [../base]\npatches: [{path: web.yaml}]\n", "web.yaml": deployment(sized)},
	} {
		dir := files(t, all)
		code, diff, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, lower...))
		if code != command.ExitDifferences || stderr != "" || !strings.Contains(diff, "+        resources: {requests: {cpu: 250m}}\n") {
			t.Errorf("%s: exit %d, stderr %q, diff\n%s", name, code, stderr, diff)
		}
	}
}

func editsABaseThatHasOneOverlay(t *testing.T) {
	all := overlaid()
	delete(all, "test/kustomization.yaml")
	dir := files(t, all)
	code, _, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()), "--write")
	if code != command.ExitOK || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	all["base/web.yaml"] = strings.Replace(all["base/web.yaml"], "memory: 1Gi", "memory: 256Mi", 1)
	all["prod/web.yaml"] = strings.Replace(all["prod/web.yaml"], "cpu: 1 #", "cpu: 250m #", 1)
	if diff := cmp.Diff(all, texts(t, dir)); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
}

func editsThePatchOfAnOverlay(t *testing.T) {
	all := overlaid()
	dir := files(t, all)
	code, _, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()), "--write")
	if code != command.ExitOK || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	all["prod/web.yaml"] = strings.Replace(all["prod/web.yaml"], "cpu: 1 # more\n", "cpu: 250m # more\n            memory: 256Mi\n", 1)
	if diff := cmp.Diff(all, texts(t, dir)); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
}

func keepsTheOrderOfContainers(t *testing.T) {
	all := overlaid()
	delete(all, "base/web.yaml")
	all["base/web.yaml"] = "kind: Deployment\nmetadata: {name: '123'}\nspec: {template: {spec: {containers: [{name: a}, {name: b}, {name: c}, {name: d}, {name: e}]}}}\n"
	all["prod/web.yaml"] = "kind: Deployment\nmetadata: {name: '123'}\nspec: {template: {spec: {containers: [{name: c}, {name: f}, {name: b, $patch: delete}]}}}\n"
	all["prod/kustomization.yaml"] = "resources: [../base]\nnamespace: shop\npatches: [{path: web.yaml}]\n"
	all["test/kustomization.yaml"] = "resources: [../base]\nnamespace: test\npatches: [{path: ../prod/web.yaml}]\n" // It shares the patch.
	dir := files(t, all)
	items := []item{of("Deployment", "123", "d", "20m", ""), of("Deployment", "123", "f", "30m", "")}
	if code, _, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, items...), "--overlay", filepath.Join(dir, "prod"), "--write"); code != command.ExitOK {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	want := "kind: Deployment\nmetadata:\n  name: \"123\"\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n      - name: f\n        resources:\n          requests:\n            cpu: \"30m\"\n" +
		"      - name: a\n      - name: d\n        resources:\n          requests:\n            cpu: \"20m\"\n"
	if diff := cmp.Diff(want, texts(t, dir)["prod/resizer-deployment-123.yaml"]); diff != "" {
		t.Errorf("wrong patch (-want +got):\n%s", diff)
	}
}

func writesAPatchForWhatSeveralOverlaysUse(t *testing.T) {
	all := overlaid()
	dir, log := files(t, all), of("Deployment", "web", "log", "20m", "32Mi")
	args := []string{"export", "-f", dir, "--from", usage(t, web(), log), "--overlay", filepath.Join(dir, "prod")}
	code, stdout, stderr := program.Shell(t.Context(), append(args, "--write")...)
	if code != command.ExitOK || stderr != "" || !strings.Contains(stdout, "1 rollout") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	all["prod/web.yaml"] = strings.Replace(all["prod/web.yaml"], "cpu: 1 # more\n", "cpu: 250m # more\n            memory: 256Mi\n", 1)
	all["prod/kustomization.yaml"] = strings.Replace(all["prod/kustomization.yaml"], "- path: web.yaml\n", "- path: web.yaml\n- path: resizer-deployment-web.yaml\n", 1)
	all["prod/resizer-deployment-web.yaml"] = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n      - name: log\n        resources:\n          requests:\n            cpu: \"20m\"\n            memory: \"32Mi\"\n"
	if diff := cmp.Diff(all, texts(t, dir)); diff != "" {
		t.Errorf("wrong texts (-want +got):\n%s", diff)
	}
	if code, diff, stderr := program.Shell(t.Context(), args...); code != command.ExitOK || diff != "" {
		t.Errorf("twice: exit %d, stderr %q, diff\n%s", code, stderr, diff)
	}
	bigger := append(args[:4:4], usage(t, web(), of("Deployment", "web", "log", "1", "32Mi")), "--overlay", filepath.Join(dir, "prod"))
	if code, diff, _ := program.Shell(t.Context(), bigger...); code != command.ExitDifferences || !strings.Contains(diff, "+            cpu: \"1000m\"\n") {
		t.Errorf("later: exit %d, diff\n%s", code, diff)
	}
}

func TestPatchesAreListedLikeOthers(t *testing.T) {
	for _, tc := range []struct{ before, after string }{
		{"resources:\n  - ../base\nnamespace: shop", "resources:\n  - ../base\nnamespace: shop\npatches:\n  - path: resizer-deployment-web.yaml"},
		{"resources: [../base]\nnamespace: shop\n", "resources: [../base]\nnamespace: shop\npatches:\n- path: resizer-deployment-web.yaml\n"},
		{"resources: [../base]\nnamespace: shop\npatches: []\n", "resources: [../base]\nnamespace: shop\npatches: [{path: resizer-deployment-web.yaml}]\n"},
		{"resources: [../base]\nnamespace: shop\npatches: [{path: a.yaml}]\n", "resources: [../base]\nnamespace: shop\npatches: [{path: a.yaml}, {path: resizer-deployment-web.yaml}]\n"},
		{"resources: [../base]\npatches:\n  - target: {kind: Service}\n    patch: |-\n      - op: remove\n        # why\n        path: /spec\n\nnamespace: shop\n", "resources: [../base]\npatches:\n  - target: {kind: Service}\n    patch: |-\n      - op: remove\n        # why\n        path: /spec\n  - path: resizer-deployment-web.yaml\n\nnamespace: shop\n"},
	} {
		all := overlaid()
		all["prod/kustomization.yaml"] = tc.before
		delete(all, "prod/web.yaml")
		dir := files(t, all)
		code, _, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()), "--overlay", filepath.Join(dir, "prod"), "--write")
		if got := texts(t, dir)["prod/kustomization.yaml"]; code != command.ExitOK || got != tc.after {
			t.Errorf("exit %d, stderr %q, text\n%s\nwant\n%s", code, stderr, got, tc.after)
		}
	}
}
