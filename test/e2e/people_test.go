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
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestPeople runs the commands that docs/tasks give to administrators and to a team, word for word,
// against a server with the Deployment's arguments. The member of the team has no other rights.
func TestPeople(t *testing.T) {
	t.Parallel()
	account := instructions(t, "docs/tasks/install.md", "\n6. Create a ServiceAccount", "\n7. ")
	team := instructions(t, "docs/tasks/give-a-team-access.md", "\n1. ", "\n5. ")
	setUp := instructions(t, "docs/tasks/give-a-team-access.md", "\n5. ", "\n## ")
	look := instructions(t, "docs/tasks/give-a-team-access.md", "\n## See that it worked\n", "\x00")
	shellOfAdmin := instructions(t, "docs/tasks/README.md", "\n## Commands\n", "\x00")
	if len(account) != 1 || len(team) != 4 || len(setUp) != 1 || len(look) != 1 || len(shellOfAdmin) != 1 {
		t.Fatalf("the blocks of commands are %q, %q, %q, %q, %q", account, team, setUp, look, shellOfAdmin)
	}
	looks := strings.Split(strings.TrimSpace(look[0]), "\n")
	if len(looks) != 3 {
		t.Fatalf("the member looks with %q, want three commands", looks)
	}
	c := newCluster(localcluster.ForTest(t, "n4=1"))
	c.install(t)
	s := c.start(t, localcluster.ServerOptions{})
	_, port, err := net.SplitHostPort(s.GRPCAddress)
	if err != nil {
		t.Fatal(err)
	}
	c.apply(t, localcluster.BehindService(deploy.Namespace, port), deployment("shop", "web"))
	c.awaitRunning(t, "shop", 1)
	member := c.user(t, "dora", "shop-developers")

	if out, err := shell(t, member, setUp[0]+looks[0]); err == nil || !strings.Contains(out, "forbidden") {
		t.Errorf("before access is granted: %v\n%s", err, out)
	}
	for _, block := range append(account, team...) {
		administered(t, c, block)
	}
	t.Run("a server that is not ready reports why", func(t *testing.T) {
		answered(t, member, setUp[0]+"resizectl status", deploy.ConfigMap)
	})
	c.apply(t, promptConfig())
	s.ready(t)
	c.MarkReady(t, deploy.Namespace)
	c.awaitSettled(t, s, "shop")
	t.Run("a member sees the pods of the team", func(t *testing.T) {
		answered(t, member, setUp[0]+looks[0], "web-")
	})
	t.Run("a member may pause the namespace of the team", func(t *testing.T) {
		answered(t, member, setUp[0]+looks[1], "shop")
	})
	t.Run("a member may pause no other namespace", func(t *testing.T) {
		if out, err := shell(t, member, setUp[0]+looks[2]); err == nil || !strings.Contains(out, "cannot create pauses") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("a client certificate of the cluster does not authenticate a user", func(t *testing.T) {
		if out, err := shell(t, member, "kubectl workload-resizer status"); err == nil || !strings.Contains(out, "--service-account-token "+deploy.Namespace+"/workload-resizer-viewer") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("a member cannot act as the administrator's account", func(t *testing.T) {
		if out, err := shell(t, member, shellOfAdmin[0]+"resizectl status"); err == nil || !strings.Contains(out, "you need the right to create serviceaccounts/token") {
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("the administrator may do everything", func(t *testing.T) {
		answered(t, c.Kubeconfig, shellOfAdmin[0]+"resizectl status\nresizectl plan -A\nresizectl pause -n shop --for 2h --reason \"load test\"\nresizectl resume -n shop", "leader", "web-", "shop")
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
	return localcluster.Shell(t.Context(), kubeconfig, "shopt -s expand_aliases\n"+commands)
}

// instructions returns the indented blocks of a Markdown file between two texts, those in lists, too.
func instructions(t *testing.T, file, from, to string) []string {
	t.Helper()
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(content), from)
	if !found {
		t.Fatalf("%s has no %q", file, from)
	}
	section, _, _ = strings.Cut(section, to)
	var blocks []string
	var block string
	for line := range strings.Lines(section + "\n\n") {
		if command := strings.TrimLeft(line, " "); len(line)-len(command) >= 4 {
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
