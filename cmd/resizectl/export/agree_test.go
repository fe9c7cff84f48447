package export

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// built returns the path of a program that make builds.
func built(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../../bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run make bin/%s", err, name)
	}
	return path
}

// renderedBy returns the objects that a command prints, by kind and name.
func renderedBy(t *testing.T, commandLine string) map[string]map[string]any {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", commandLine)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", commandLine, err, said.String())
	}
	list, err := objectsIn(out)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]any{}
	for _, object := range list {
		all[nameOf(object)] = object
	}
	return all
}

// sizesOf takes the resources of its containers out of an object, and returns them by container.
func sizesOf(object map[string]any) map[string]any {
	all := map[string]any{}
	for _, c := range containersOf(object) {
		all[fmt.Sprint(c["name"])] = c["resources"]
		delete(c, "resources")
	}
	return all
}

// TestRenderersAgree checks what kustomize and Helm make of files before and after an export: nothing but the intended
// amounts differs.
func TestRenderersAgree(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"} {
		t.Setenv(name, home) // Helm does not use the configuration of this machine's user.
	}
	kustomize, helm := built(t, "kubectl")+" kustomize ", built(t, "helm")+" template shop --namespace shop "
	type sizes = map[string]any
	amounts := func(cpu, memory any) sizes { return sizes{"cpu": cpu, "memory": memory} }
	items := []item{web(), of("Deployment", "web", "log", "20m", "32Mi")}
	for _, tc := range []struct {
		name          string
		files         map[string]string
		render        func(dir string) string
		overlay       string
		before, after sizes
	}{
		{
			name: "a base with two overlays, of which one gets a patch", files: overlaid(), overlay: "prod",
			render: func(dir string) string { return kustomize + dir + "/prod" },
			before: sizes{"app": sizes{"requests": amounts(1, "1Gi")}, "log": nil},
			after:  sizes{"app": sizes{"requests": amounts("250m", "256Mi")}, "log": sizes{"requests": amounts("20m", "32Mi")}},
		},
		{
			name: "the other overlay stays", files: overlaid(), overlay: "prod",
			render: func(dir string) string { return kustomize + dir + "/test" },
			before: sizes{"app": sizes{"requests": amounts("100m", "1Gi")}, "log": nil},
			after:  sizes{"app": sizes{"requests": amounts("100m", "1Gi")}, "log": nil},
		},
		{
			name: "a chart whose values are mapped", files: charted(),
			render: func(dir string) string { return helm + dir + "/charts/web" },
			before: sizes{"app": sizes{"requests": amounts(1, "1Gi"), "limits": sizes{"memory": "2Gi"}}, "log": sizes{}},
			after:  sizes{"app": sizes{"requests": amounts("250m", "256Mi"), "limits": sizes{"memory": "512Mi"}}, "log": sizes{"requests": amounts("20m", "32Mi")}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := files(t, tc.files)
			before := renderedBy(t, tc.render(dir))
			args := []string{"export", "-f", dir, "--from", usage(t, items...), "--write"}
			if tc.overlay != "" {
				args = append(args, "--overlay", filepath.Join(dir, tc.overlay))
			}
			if !reflect.DeepEqual(tc.before, tc.after) {
				args = append(args, "--render", tc.render(dir)) // It checks the same, with the same programs.
			}
			if code, stdout, stderr := program.Shell(t.Context(), args...); code != command.ExitOK {
				t.Fatalf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			after := renderedBy(t, tc.render(dir))
			if diff := cmp.Diff(tc.before, sizesOf(before["Deployment web"])); diff != "" {
				t.Errorf("before (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.after, sizesOf(after["Deployment web"])); diff != "" {
				t.Errorf("after (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("more than amounts differs:\n%s", diff)
			}
		})
	}
	t.Run("files are restored if a value is for more than its workload", func(t *testing.T) {
		all := charted()
		template := all["charts/web/templates/web.yaml"]
		all["charts/web/templates/web.yaml"] = template + "---\n" + strings.Replace(template, "name: web", "name: other", 1)
		dir := files(t, all)
		code, stdout, stderr := program.Shell(t.Context(), "export", "-f", dir, "--from", usage(t, web()), "--write", "--render", helm+dir+"/charts/web")
		if code != command.ExitError || stdout != "" || !strings.Contains(stderr, "--render shows a different Deployment other") {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
		if diff := cmp.Diff(all, texts(t, dir)); diff != "" {
			t.Errorf("not restored (-want +got):\n%s", diff)
		}
	})
}

// charted is a chart with two containers, whose values are mapped.
func charted() map[string]string {
	return map[string]string{
		".resizer.yaml": "values:\n- {workload: shop/deployment/web, container: app, file: charts/web/values.yaml, path: app.resources}\n" +
			"- {workload: shop/deployment/web, container: log, file: charts/web/values.yaml, path: log.resources}\n",
		"charts/web/Chart.yaml":  "apiVersion: v2\nname: web\nversion: 0.1.0\n",
		"charts/web/values.yaml": "app:\n  # as measured\n  resources:\n    requests: {cpu: 1, memory: 1Gi}\n    limits:\n      memory: 2Gi\nlog:\n  resources: {}\n",
		"charts/web/templates/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: {{ .Release.Namespace }}\nspec:\n  template:\n    spec:\n      containers:\n" +
			"      - name: app\n        image: web\n        resources: {{- toYaml .Values.app.resources | nindent 10 }}\n      - name: log\n        image: log\n        resources: {{- toYaml .Values.log.resources | nindent 10 }}\n",
	}
}
