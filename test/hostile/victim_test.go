package hostile

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// mostGrowth is how much the memory of the server may grow in an attack, in bytes.
	mostGrowth = 256 << 20
	// mostLatency is what the p99 of other callers may reach, if it does not stay below twice
	// what it was before.
	mostLatency = 50 * time.Millisecond
)

var latency = flag.Bool("latency", false, "also limit how long other callers wait, which depends on what else the machine does")

// victim is a server that an attack is made on, and what a caller notices who was there before.
type victim struct {
	cluster   *localcluster.Cluster
	admin     kubernetes.Interface
	server    *localcluster.Server
	ca        string
	bystander *client.Client
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	v := &victim{cluster: localcluster.ForTest(t, "")}
	config := v.cluster.Config()
	if err := localcluster.Apply(t.Context(), config, append(deploy.Base(), deploy.SampleConfig())...); err != nil {
		t.Fatal(err)
	}
	v.admin = kubernetes.NewForConfigOrDie(config)
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), config, deploy.Namespace, deploy.ServiceAccount, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := localcluster.ServingCertificate(t.TempDir(), "localhost")
	if err != nil {
		t.Fatal(err)
	}
	v.ca = certificate.CertFile
	v.server = localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: kubeconfig, Args: []string{"--tls-cert-file", certificate.CertFile, "--tls-private-key-file", certificate.KeyFile}})
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	if err := v.server.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	v.bystander = v.dial(t, v.token(t, "bystander", "workload-resizer-viewer"))
	return v
}

// token returns a token of a new ServiceAccount, for the server, that has a ClusterRole unless
// it is empty.
func (v *victim) token(t *testing.T, name, role string) string {
	t.Helper()
	accounts := v.admin.CoreV1().ServiceAccounts(metav1.NamespaceDefault)
	if _, err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if role != "" {
		v.grant(t, name, role)
	}
	request, err := accounts.CreateToken(t.Context(), name, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"workload-resizer.io"}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

// grant gives a ServiceAccount a ClusterRole in all namespaces.
func (v *victim) grant(t *testing.T, account, role string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: account + "-" + role}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: subjects(account)}
	if _, err := v.admin.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// subjects returns a ServiceAccount as the subject of a binding.
func subjects(account string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: metav1.NamespaceDefault, Name: account}}
}

func (v *victim) dial(t *testing.T, token string) *client.Client {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(v.server.GRPCAddress, client.WithCAFile(v.ca), client.WithTokenFile(file))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// memory returns the resident memory of the server, in bytes.
func (v *victim) memory(t *testing.T) int {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.server.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("the server has no memory")
	return 0
}

// p99 returns the 99th percentile of the time that calls of the bystander take, none of which
// may fail. It also returns the most memory that the server used meanwhile.
func (v *victim) p99(t *testing.T) (took99 time.Duration, memory int) {
	t.Helper()
	var took []time.Duration
	for begun := time.Now(); time.Since(begun) < 3*time.Second; time.Sleep(20 * time.Millisecond) {
		called := time.Now()
		if _, err := v.bystander.ListRatios(t.Context()); err != nil {
			t.Fatalf("a bystander is refused: %v", err)
		}
		took = append(took, time.Since(called))
		memory = max(memory, v.memory(t))
	}
	slices.Sort(took)
	return took[len(took)*99/100], memory
}

// withstands makes an attack, and fails if others notice it.
func (v *victim) withstands(t *testing.T, attack func(t *testing.T)) {
	t.Helper()
	before, memory := v.p99(t)
	attack(t)
	during, most := v.p99(t)
	t.Logf("p99 %v before, %v during; memory %d MiB before, %d MiB during", before, during, memory>>20, most>>20)
	if *latency && during > max(2*before, mostLatency) {
		t.Errorf("the p99 of others was %v, and is %v", before, during)
	}
	if most-memory > mostGrowth {
		t.Errorf("the memory of the server grew by %d MiB", (most-memory)>>20)
	}
}
