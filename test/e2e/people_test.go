package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestPeople runs the commands that docs/install.md gives to administrators and users,
// word for word, against a server with the Deployment's arguments. The users have no
// other rights.
func TestPeople(t *testing.T) {
	t.Parallel()
	blocks := instructions(t, "docs/install.md", "## 4. Access for users")
	if len(blocks) != 4 {
		t.Fatalf("there are %d blocks of commands, want those for viewers and for operators: %q", len(blocks), blocks)
	}
	c := newCluster(localcluster.ForTest(t, "n4=1"))
	c.install(t)
	s := c.start(t, localcluster.ServerOptions{})
	_, port, err := net.SplitHostPort(s.GRPCAddress)
	if err != nil {
		t.Fatal(err)
	}
	c.apply(t, fmt.Appendf(nil, behindService, deploy.Namespace, port), deployment("shop", "web"))
	c.awaitRunning(t, "shop", 1)
	developer, operator := c.user(t, "dora", "developers"), c.user(t, "otto", "operators")

	if out, err := shell(t, developer, blocks[1]); err == nil || !strings.Contains(out, "forbidden") {
		t.Errorf("before access is granted: %v\n%s", err, out)
	}
	administered(t, c, blocks[0])
	t.Run("a server that is not ready reports why", func(t *testing.T) {
		answered(t, developer, strings.Replace(blocks[1], "kubectl workload-resizer plan -n shop\n", "", 1), deploy.ConfigMap)
	})
	c.apply(t, deploy.SampleConfig())
	s.ready(t)
	c.markReady(t)
	c.awaitSettled(t, s, "shop")
	t.Run("a viewer sees pods", func(t *testing.T) {
		answered(t, developer, blocks[1], "leader", "web-")
	})
	t.Run("a client certificate of the cluster does not authenticate a user", func(t *testing.T) {
		if out, err := shell(t, developer, "kubectl workload-resizer status"); err == nil || !strings.Contains(out, "--service-account-token "+deploy.Namespace+"/workload-resizer-viewer") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("a viewer cannot change anything, nor act as an operator", func(t *testing.T) {
		administered(t, c, blocks[2])
		viewer, _, _ := strings.Cut(blocks[1], "\n")
		_, change, _ := strings.Cut(blocks[3], "\n")
		if out, err := shell(t, developer, viewer+"\n"+change); err == nil || !strings.Contains(out, "cannot create pauses") {
			t.Errorf("as a viewer: %v\n%s", err, out)
		}
		if out, err := shell(t, developer, blocks[3]); err == nil || !strings.Contains(out, "you need the right to create serviceaccounts/token") {
			t.Errorf("as an operator: %v\n%s", err, out)
		}
	})
	t.Run("an operator can change something", func(t *testing.T) {
		answered(t, operator, blocks[3], "shop")
	})
}

// behindService is a pod for a server that listens on this machine, to which pods in the test
// cluster forward connections. Its arguments are the namespace and the port. The Service of the
// Deployment selects the pod. Readiness is not probed here, so markReady sets it.
const behindService = `
apiVersion: v1
kind: Pod
metadata:
  name: workload-resizer
  namespace: %[1]s
  labels: {app.kubernetes.io/name: workload-resizer, app.kubernetes.io/component: server}
spec:
  automountServiceAccountToken: false
  readinessGates: [{conditionType: e2e.workload-resizer.io/ready}]
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
  - name: server
    image: simulated/workload-resizer
    ports: [{name: grpc, containerPort: %[2]s}]
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`

// markReady makes the pod behind the Service ready.
func (c *cluster) markReady(t *testing.T) {
	t.Helper()
	const patch = `{"status": {"conditions": [{"type": "e2e.workload-resizer.io/ready", "status": "True"}]}}`
	if _, err := c.client.CoreV1().Pods(deploy.Namespace).Patch(t.Context(), "workload-resizer", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the server's pod to be ready", func() error {
		pod, err := c.client.CoreV1().Pods(deploy.Namespace).Get(t.Context(), "workload-resizer", metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", pod.Status.Conditions)
	})
}

// administered runs commands from the documentation as the cluster's administrator.
func administered(t *testing.T, c *cluster, commands string) {
	t.Helper()
	if out, err := shell(t, c.Kubeconfig, commands); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// answered runs commands from the documentation as a user until the output is as expected:
// granted rights take effect after a moment.
func answered(t *testing.T, kubeconfig, commands string, wanted ...string) {
	t.Helper()
	localcluster.Eventually(t, "the commands to succeed", func() error {
		out, err := shell(t, kubeconfig, commands)
		for _, text := range wanted {
			if !strings.Contains(out, text) {
				err = errors.Join(err, fmt.Errorf("the output does not contain %q", text))
			}
		}
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

// shell runs commands as a user with that kubeconfig would type them.
func shell(t *testing.T, kubeconfig, commands string) (string, error) {
	t.Helper()
	return localcluster.Shell(t.Context(), kubeconfig, commands)
}

// instructions returns the indented blocks of a section of a Markdown file.
func instructions(t *testing.T, file, heading string) []string {
	t.Helper()
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(content), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", file, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks []string
	var block string
	for line := range strings.Lines(section + "\n\n") {
		if command, indented := strings.CutPrefix(line, "    "); indented {
			block += command
		} else if block != "" {
			blocks, block = append(blocks, block), ""
		}
	}
	return blocks
}
