package deploy

import (
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// arguments returns the arguments of the containers that run our image, by workload.
func arguments(t *testing.T, of string, with ...string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for name, template := range templates(t, built(t, of, with...)) {
		for _, container := range append(template.Spec.InitContainers, template.Spec.Containers...) {
			if strings.HasPrefix(container.Image, "workload-resizer:") {
				found[name+" of "+strings.Join(append([]string{of}, with...), " and ")] = container.Args
			}
		}
	}
	return found
}

func TestArgs(t *testing.T) {
	t.Run("the program accepts all flags", theProgramAcceptsAllFlags)
	t.Run("files in flags are mounted", filesInFlagsAreMounted)
}

// theProgramAcceptsAllFlags runs the program itself.
func theProgramAcceptsAllFlags(t *testing.T) {
	program, err := localcluster.Binary("workload-resizer")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(t *testing.T, args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), program, args...)
		// Without the variables that point a pod to the API server.
		command.Env = []string{"NODE_NAME=n"}
		out, err := command.CombinedOutput()
		return string(out), err
	}
	for _, of := range overlays {
		for _, with := range [][]string{nil, components(t)} {
			for name, args := range arguments(t, of, with...) {
				t.Run(name, func(t *testing.T) {
					if out, err := ask(t, append(args, "--help")...); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					if out, err := ask(t, append(args, "--no-such-flag", "--help")...); err == nil || !strings.Contains(out, "unknown flag") {
						t.Errorf("unknown flag: got %v, %s", err, out)
					}
					if args[0] != "serve" {
						return
					}
					// The program gets as far as looking for the cluster, so the combination
					// of flags is valid.
					if out, err := ask(t, args...); err == nil || !strings.Contains(out, "not running in a cluster") {
						t.Errorf("%v: %s", err, out)
					}
				})
			}
		}
	}
}

// A flag names a file or a folder if its value is an absolute path.
func filesInFlagsAreMounted(t *testing.T) {
	files := 0
	for name, template := range templates(t, built(t, "base", components(t)...)) {
		container := template.Spec.Containers[0]
		for _, arg := range container.Args {
			flag, path, _ := strings.Cut(arg, "=")
			if !strings.HasPrefix(path, "/") {
				continue
			}
			files++
			if !mounted(container, template.Spec.Volumes, path) {
				t.Errorf("%s: %s names %s, which is not in a volume", name, flag, path)
			}
		}
	}
	if files < 5 {
		t.Errorf("got %d flags with files, want at least 5", files)
	}
}

func mounted(container corev1.Container, volumes []corev1.Volume, path string) bool {
	for _, mount := range container.VolumeMounts {
		for _, volume := range volumes {
			if volume.Name == mount.Name && strings.HasPrefix(path+"/", mount.MountPath+"/") {
				return true
			}
		}
	}
	return false
}
