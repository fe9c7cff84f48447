package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

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
	c.apply(t, promptConfig())
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
  serviceAccountName: workload-resizer
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

// user creates a user of the cluster with a certificate that the cluster signs, and
// returns the user's kubeconfig.
func (c *cluster) user(t *testing.T, name, group string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: []string{group}}}, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	admin := c.Config()
	path := filepath.Join(t.TempDir(), name+".kubeconfig")
	if err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"cluster": {
			Server: admin.Host, CertificateAuthority: admin.CAFile, CertificateAuthorityData: admin.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: c.signed(t, name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request})),
			ClientKeyData:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: "cluster", AuthInfo: name}},
		CurrentContext: name,
	}, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// signed lets the cluster sign a user's certificate request.
func (c *cluster) signed(t *testing.T, name string, request []byte) []byte {
	t.Helper()
	requests := c.client.CertificatesV1().CertificateSigningRequests()
	csr, err := requests.Create(t.Context(), &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request: request, SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	csr.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Known", Message: "a user of the tests",
	}}
	if _, err := requests.UpdateApproval(t.Context(), name, csr, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	var certificate []byte
	localcluster.Eventually(t, "the certificate of "+name, func() error {
		csr, err := requests.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if certificate = csr.Status.Certificate; len(certificate) == 0 {
			return errors.New("it is not signed yet")
		}
		return nil
	})
	return certificate
}
