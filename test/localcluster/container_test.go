package localcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/deploy"
)

// mounted is a Deployment whose container mounts volumes of every kind: a token, a Secret, a
// file of a ConfigMap, an optional ConfigMap that does not exist, and an emptyDir.
const mounted = `
apiVersion: v1
kind: Secret
metadata: {name: serving, namespace: %[1]s}
stringData: {tls.crt: %[2]q, tls.key: %[3]q}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: %[1]s}
data: {one: "1", two: "2"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: mounted, namespace: %[1]s}
spec:
  replicas: 0
  selector: {matchLabels: {app: mounted}}
  template:
    metadata: {labels: {app: mounted}}
    spec:
      serviceAccountName: workload-resizer
      securityContext: {runAsNonRoot: true, runAsUser: 65532, runAsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: server
        image: workload-resizer:latest
        args: [serve, "--grpc-bind-address=:7443", "--http-bind-address=:8080", --tls-cert-file=/tls/tls.crt, --tls-private-key-file=/tls/tls.key]
        env:
        - {name: PLAIN, value: "text"}
        - {name: GOMEMLIMIT, valueFrom: {resourceFieldRef: {resource: limits.memory}}}
        resources: {limits: {memory: 1Gi}}
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        volumeMounts:
        - {name: tls, mountPath: /tls}
        - {name: settings, mountPath: /settings}
        - {name: nothing, mountPath: /nothing}
        - {name: own, mountPath: /own}
      volumes:
      - {name: tls, secret: {secretName: serving}}
      - {name: settings, configMap: {name: settings, items: [{key: two, path: second}]}}
      - {name: nothing, configMap: {name: nothing, optional: true}}
      - {name: own, emptyDir: {}}
`

func TestContainer(t *testing.T) {
	t.Run("a server runs as the container of a Deployment", aServerRunsAsTheContainerOfADeployment)
	t.Run("a container accepts only static programs", aContainerAcceptsOnlyStaticPrograms)
}

func aServerRunsAsTheContainerOfADeployment(t *testing.T) {
	c := ForTest(t, "")
	cert, err := ServingCertificate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	manifest := fmt.Appendf(nil, mounted, deploy.Namespace, content(t, cert.CertFile), content(t, cert.KeyFile))
	if err := Apply(t.Context(), c.Config(), append(deploy.Base(), deploy.SampleConfig(), manifest)...); err != nil {
		t.Fatal(err)
	}
	var container *Container
	Eventually(t, "the ServiceAccount to have the API server's authority", func() error {
		container, err = NewContainer(t.Context(), c.Config(), deploy.Namespace, "mounted")
		return err
	})
	t.Cleanup(func() {
		if err := container.Close(); err != nil {
			t.Error(err)
		}
	})
	s := ServerForTest(t, ServerOptions{Container: container, Args: []string{"-v=1"}})
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	if err := s.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}

	proc := fmt.Sprintf("/proc/%d/", s.PID())
	_, grpcPort, _ := strings.Cut(s.GRPCAddress, ":")
	_, httpPort, _ := strings.Cut(s.HTTPAddress, ":")
	if got, want := content(t, proc+"cmdline"), strings.Join([]string{"/workload-resizer", "serve", "--grpc-bind-address=:" + grpcPort, "--http-bind-address=:" + httpPort,
		"--tls-cert-file=/tls/tls.crt", "--tls-private-key-file=/tls/tls.key", "-v=1", ""}, "\x00"); got != want {
		t.Errorf("the command line is %q, want %q", got, want)
	}
	for _, want := range []string{"GOMEMLIMIT=1073741824\x00", "PLAIN=text\x00", "KUBERNETES_SERVICE_HOST=127.0.0.1\x00"} {
		if env := content(t, proc+"environ"); !strings.Contains(env, want) || strings.Contains(env, "PATH=") {
			t.Errorf("the environment is %q, want %q in it and nothing from this process", env, want)
		}
	}
	uid := "65532"
	if os.Geteuid() != 0 {
		uid = fmt.Sprint(os.Geteuid()) // As seen outside of the user namespace.
	}
	if status := content(t, proc+"status"); !strings.Contains(status, "\nUid:\t"+uid+"\t") || !strings.Contains(status, "\nCapEff:\t0000000000000000\n") {
		t.Errorf("the server runs as another user, or has capabilities: %s", status)
	}
	for file, want := range map[string]string{"settings/second": "2", "var/run/secrets/kubernetes.io/serviceaccount/namespace": deploy.Namespace} {
		if got := content(t, filepath.Join(container.root, file)); got != want {
			t.Errorf("/%s is %q, want %q", file, got, want)
		}
	}
	if _, err := os.Stat(filepath.Join(container.root, "settings", "one")); err == nil {
		t.Error("the volume contains a key that is not listed in items")
	}
}

func aContainerAcceptsOnlyStaticPrograms(t *testing.T) {
	if err := checkStatic("/bin/sh"); err == nil {
		t.Error("a dynamically linked program passes")
	}
	self, err := Binary("workload-resizer")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkStatic(self); err != nil {
		t.Error(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
