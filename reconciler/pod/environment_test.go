package pod_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestKnowsMemoryLimit(t *testing.T) {
	env := func(name, value string) func(c *corev1.Container) {
		return func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "OTHER"}, {Name: name, Value: value}} }
	}
	field := func(resource, container string) func(c *corev1.Container) {
		return func(c *corev1.Container) {
			c.Env = []corev1.EnvVar{{Name: "MEMORY", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: container, Resource: resource}}}}
		}
	}
	command := func(command, args []string) func(c *corev1.Container) {
		return func(c *corev1.Container) { c.Command, c.Args = command, args }
	}
	for _, tc := range []struct {
		name   string
		first  func(c *corev1.Container)
		second bool // the second container knows it
		want   bool
	}{
		{"nothing says so", env("PATH", "/usr/bin"), false, false},
		{"the limit is a variable", field("limits.memory", ""), false, true},
		{"the limit of another container is", field("limits.memory", "second"), true, false},
		{"the limit of no container is", field("limits.memory", "gone"), false, false},
		{"the request is", field("requests.memory", ""), false, false},
		{"the CPU limit is", field("limits.cpu", ""), false, false},
		{"Go is told", env("GOMEMLIMIT", "900MiB"), false, true},
		{"Java is told", env("JAVA_TOOL_OPTIONS", "-XX:MaxRAMPercentage=75"), false, true},
		{"Node.js is told", env("NODE_OPTIONS", "--max-old-space-size=900"), false, true},
		{"Node.js is told something else", env("NODE_OPTIONS", "--enable-source-maps"), false, false},
		{"Java is the command", command([]string{"/usr/bin/java", "-jar", "app.jar"}, nil), false, true},
		{"Java is the first argument", command(nil, []string{"java", "-jar", "app.jar"}), false, true},
		{"Java is a later argument", command([]string{"echo"}, []string{"java"}), false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			object := podtest.Pod(podtest.Guaranteed, podtest.WithSecond(podtest.Guaranteed))
			tc.first(&object.Spec.Containers[0])
			p := pod.From(object)
			if first, second := p.Containers[0].KnowsMemoryLimit(), p.Containers[1].KnowsMemoryLimit(); first != tc.want || second != tc.second {
				t.Errorf("%v and %v, want %v and %v", first, second, tc.want, tc.second)
			}
		})
	}
}
