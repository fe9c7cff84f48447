package deploy

import (
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// arguments are those of the containers that run our image, by what has them.
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
	t.Run("flags are those of the program", flagsAreThoseOfTheProgram)
	t.Run("files in flags are mounted", filesInFlagsAreMounted)
}

// TestFlagsAreThoseOfTheProgram asks the program itself.
func flagsAreThoseOfTheProgram(t *testing.T) {
	program, err := localcluster.Binary("workload-resizer")
	if err != nil {
		t.Fatal(err)
	}
	ask := func(t *testing.T, args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), program, args...)
		// Without the variables that tell a pod where the API server is.
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
						t.Errorf("a flag that there is not: %v, %s", err, out)
					}
					if args[0] != "serve" {
						return
					}
					// It gets as far as to look for the cluster, so nothing is wrong with
					// what the flags say together.
					if out, err := ask(t, args...); err == nil || !strings.Contains(out, "this process runs in no cluster") {
						t.Errorf("%v: %s", err, out)
					}
				})
			}
		}
	}
}

// TestFilesInFlagsAreMounted is about flags with paths of files.
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
				t.Errorf("%s: %s names %s, where no volume is", name, flag, path)
			}
		}
	}
	if files < 5 {
		t.Errorf("there are %d flags with files", files)
	}
}

func mounted(container corev1.Container, volumes []corev1.Volume, path string) bool {
	for _, mount := range container.VolumeMounts {
		for _, volume := range volumes {
			if volume.Name == mount.Name && strings.HasPrefix(path, mount.MountPath+"/") {
				return true
			}
		}
	}
	return false
}
