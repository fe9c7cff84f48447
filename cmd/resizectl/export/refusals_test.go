package export

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

const sized = "        resources: {requests: {cpu: 1}}\n"

// refusals are directories in which nothing may be edited, and what must be listed.
var refusals = []struct {
	name  string
	files map[string]string
	items []item
	// lines are what the lists must have, with the file and the line.
	lines []string
}{
	{"templates of Helm", map[string]string{"web.yaml": "{{- if .Values.web }}\n" + deployment(sized) + "{{- end }}\n"}, nil, []string{"web.yaml:1: it is a template ({{)"}},
	{"values of templates", map[string]string{"web.yaml": deployment(strings.Replace(sized, "1", `"{{ .Values.cpu }}"`, 1))}, nil, []string{"web.yaml:12: Deployment web: it is a template ({{)"}},
	{"variables", map[string]string{"web.yaml": deployment(sized + "        args: [\"${ARGS}\"]\n")}, nil, []string{"web.yaml:13: Deployment web: another tool fills in values (${)"}},
	{"ytt", map[string]string{"web.yaml": "#@ load(\"@ytt:data\", \"data\")\n" + deployment(sized)}, nil, []string{"web.yaml:1: it is a ytt template"}},
	{"Jsonnet", map[string]string{"web.jsonnet": "{}", "lib/web.libsonnet": "{}"}, nil, []string{"web.jsonnet:1: it is Jsonnet", "web.libsonnet:1: it is Jsonnet"}},
	{"files that SOPS signs", map[string]string{"web.yaml": deployment(sized) + "sops:\n  mac: ENC[AES256_GCM,data:A]\n"}, nil, []string{"web.yaml:13: SOPS signs it"}},
	{"resources with an alias", map[string]string{"web.yaml": deployment("        resources: &r {requests: {cpu: 1}}\n      - name: b\n        resources: *r\n")}, nil, []string{"web.yaml:12: Deployment web container app: an alias"}},
	{"an alias for resources", map[string]string{"web.yaml": "x: &r {requests: {cpu: 1}}\n" + deployment("        resources: *r\n")}, nil, []string{"web.yaml:13: Deployment web container app: an alias"}},
	{"merged resources", map[string]string{"web.yaml": "x: &r {requests: {cpu: 1}}\n" + deployment("        resources: {<<: *r}\n")}, nil, []string{"web.yaml:13: Deployment web container app: it is merged (<<)"}},
	{"a merged container", map[string]string{"web.yaml": "x: &r {resources: {requests: {cpu: 1}}}\n" + deployment("        <<: *r\n")}, nil, []string{"web.yaml:11: Deployment web container app: it is merged (<<)"}},
	{"links that leave the directory", map[string]string{"web.yaml": "-> /etc/passwd", "dir": "-> /tmp", "lost.yaml": "-> nowhere"}, nil, []string{"web.yaml:1: it is a link that leaves", "dir:1: it is a link that leaves", "lost.yaml:1: it is a link to nothing"}},
	{"vendored charts", map[string]string{"Chart.yaml": "name: a", "charts/b/web.yaml": deployment(sized), "dep/charts/c-1.tgz": "x"}, nil, []string{"charts:1: these charts are vendored", "c-1.tgz:1: it is a packed chart"}},
	{"two objects that may be the workload", map[string]string{"a.yaml": deployment(sized), "b.yaml": deployment(sized)}, nil, []string{"a.yaml:1: Deployment web: several objects may be shop/deployment/web, such as b.yaml:1", "b.yaml:1: Deployment web: several objects"}},
	{"an object without a namespace, if there are several", map[string]string{"web.yaml": strings.Replace(deployment(sized), "  namespace: shop\n", "", 1)}, []item{web(), web().with("namespace", "test")}, []string{"web.yaml:1: Deployment web: it names no namespace, and workloads of its name are in shop, test"}},
	{"names that a kustomization changes", map[string]string{"kustomization.yaml": "resources: [web.yaml]\nnamePrefix: prod-\n", "web.yaml": deployment(sized)}, []item{of("Deployment", "prod-web", "app", "1", "1Gi")}, []string{"web.yaml:1: Deployment web: namePrefix or nameSuffix in kustomization.yaml:2"}},
	{"a base with several overlays", map[string]string{
		"base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": strings.Replace(deployment(sized), "  namespace: shop\n", "", 1),
		"a/kustomization.yaml": "resources: [../base]\nnamespace: shop\n", "b/kustomization.yaml": "resources: [../base]\nnamespace: test\n",
	}, nil, []string{"base/web.yaml:11: Deployment web container app: several overlays use it: a, b; with --overlay"}},
	{"patches in JSON", map[string]string{
		"kustomization.yaml": "resources: [web.yaml]\npatches:\n- target: {kind: Deployment}\n  patch: |-\n    - op: replace\n      path: /spec/template/spec/containers/0/resources/requests/cpu\n      value: 2\n", "web.yaml": deployment(sized),
	}, nil, []string{"web.yaml:1: Deployment web: kustomization.yaml:3 is a patch that may change its resources"}},
	{"patches for objects with labels", map[string]string{
		"kustomization.yaml": "resources: [web.yaml]\npatches: [{path: all.yaml, target: {labelSelector: app=a}}]\n", "web.yaml": deployment(sized), "all.yaml": strings.ReplaceAll(deployment(sized), "name: web", "name: all"),
	}, nil, []string{"web.yaml:1: Deployment web: kustomization.yaml:2 is a patch that may change its resources"}},
	{"patches that change other objects, too", map[string]string{
		"kustomization.yaml": "resources: [web.yaml, api.yaml]\npatches: [{path: all.yaml, target: {kind: Deployment}}]\n", "web.yaml": deployment(sized), "api.yaml": strings.ReplaceAll(deployment(sized), "name: web", "name: api"),
		"all.yaml": strings.ReplaceAll(deployment(sized), "name: web", "name: all"),
	}, nil, []string{"all.yaml:12: Deployment web container app: it also changes Deployment api in api.yaml; with --overlay, Deployment web gets a patch of its own"}},
	{"replacements in a file", map[string]string{
		"kustomization.yaml": "resources: [web.yaml]\nreplacements:\n- path: all.yaml\n", "web.yaml": deployment(sized), "all.yaml": "- targets: [{select: {kind: Deployment}, fieldPaths: [spec.template.spec.containers.0.resources.requests.cpu]}]\n",
	}, nil, []string{"web.yaml:1: Deployment web: kustomization.yaml:3 is a patch that may change its resources"}},
	{"a patch whose object is elsewhere, with a new request", map[string]string{
		"kustomization.yaml": "resources: [../base]\npatches: [{path: web.yaml}]\n", "web.yaml": deployment(sized),
	}, nil, []string{"web.yaml:12: Deployment web container app: it is a patch for an object that is not in the directory"}},
	{"a patch whose object is elsewhere, with a higher request", map[string]string{
		"kustomization.yaml": "resources: [../base]\npatches: [{path: web.yaml}]\n", "web.yaml": deployment(sized),
	}, []item{of("Deployment", "web", "app", "2", "")}, []string{"web.yaml:12: Deployment web container app: it is a patch for an object that is not in the directory"}},
	{"values that several containers have", map[string]string{
		"values.yaml": "resources: {requests: {cpu: 1}}\n", ".resizer.yaml": "values:\n- {workload: deployment/web, container: app, file: values.yaml, path: resources}\n- {workload: deployment/api, container: app, file: values.yaml, path: resources}\n",
	}, []item{web(), of("Deployment", "api", "app", "1", "")}, []string{".resizer.yaml:2: shop/deployment/web container app: resources is mapped for several containers: shop/deployment/web container app, shop/deployment/api container app", ".resizer.yaml:3: shop/deployment/api container app: resources is mapped"}},
	{"rules that differ", map[string]string{"web.yaml": deployment(sized)}, []item{web(), of("Deployment", "web", "app", "1", "1Gi").with("rule", "overrides[0] (b)")}, []string{"web.yaml:12: Deployment web container app: rules recommend different sizes for container app: the globals and overrides[0] (b)"}},
	{"amounts that are none", map[string]string{"web.yaml": deployment("        resources: {requests: {cpu: much}}\n")}, nil, []string{`web.yaml:12: Deployment web container app: cpu "much" is not an amount`}},
	{"keys that are there twice", map[string]string{"web.yaml": deployment(sized + sized)}, nil, []string{"web.yaml:13: Deployment web container app: its key is there twice"}},
	{"amounts that are there twice", map[string]string{"web.yaml": deployment("        resources: {requests: {cpu: 1, memory: 1Gi, cpu: 2}}\n")}, nil, []string{"web.yaml:12: Deployment web container app: its key is there twice"}},
	{"tags that allow no other amount", map[string]string{"web.yaml": deployment("        resources: {requests: {cpu: !!int 1}}\n")}, []item{of("Deployment", "web", "app", "250m", "")}, []string{"web.yaml:12: it cannot be changed without changing something else"}},
	{"amounts in blocks of text", map[string]string{"web.yaml": deployment("        resources:\n          requests:\n            cpu: |-\n              500m\n")}, nil, []string{"web.yaml:14: shop/deployment/web container app: it is not text on one line"}},
	{"resources that are null", map[string]string{"web.yaml": deployment("        resources: null\n")}, nil, []string{"web.yaml:12: Deployment web container app: its resources are not a mapping"}},
	{"files that are too large", map[string]string{"web.yaml": deployment(sized) + strings.Repeat("#", 16<<20)}, nil, []string{"web.yaml:1: it has more than 16 MiB"}},
	{"kustomizations that multiply", multiplied(), nil, []string{"k0/kustomization.yaml:1: it includes more than 10000 others"}},
	{"text that is not YAML", map[string]string{"web.yaml": deployment(sized) + " x\n"}, nil, []string{"web.yaml:", "it is not YAML"}},
	{"resources of a whole pod", map[string]string{"web.yaml": deployment(sized + "      resources: {requests: {cpu: 2}}\n")}, nil, []string{"web.yaml:13: Deployment web: its pod has resources"}},
}

// multiplied are kustomizations of which each includes the next one twice, so that the last one is included 2^30 times.
func multiplied() map[string]string {
	all := map[string]string{"k30/kustomization.yaml": "resources: [web.yaml]\n", "k30/web.yaml": deployment(sized)}
	for i := range 30 {
		all[fmt.Sprintf("k%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [../k%[1]d, ../k%[1]d/.]\n", i+1)
	}
	return all
}

func TestRefusals(t *testing.T) {
	for _, tc := range refusals {
		t.Run(tc.name, func(t *testing.T) {
			if tc.items == nil {
				tc.items = []item{web()}
			}
			dir := files(t, tc.files)
			before := texts(t, dir)
			code, stdout, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, tc.items...), "--write")
			if code != command.ExitOK || stdout != "Nothing to change\n" {
				t.Errorf("exit %d, stdout %q", code, stdout)
			}
			listed := strings.ReplaceAll(stderr, dir+string(filepath.Separator), "")
			for _, line := range tc.lines {
				if !strings.Contains(listed, line) {
					t.Errorf("not listed: %s\nin\n%s", line, listed)
				}
			}
			for name, text := range texts(t, dir) {
				if before[name] != text {
					t.Errorf("%s has changed:\n%s", name, text)
				}
			}
		})
	}
}
