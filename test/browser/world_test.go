package browser

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// world is a cluster whose containers work, and a server that authenticates its callers.
type world struct {
	*localcluster.Cluster
	client kubernetes.Interface
	cert   localcluster.Certificate
	server *localcluster.Server
	// kubeconfig is the kubeconfig of the server.
	kubeconfig string
	// whole is the test that the server lives as long as.
	whole *testing.T
	// admin is a file with the token of somebody who may do everything.
	admin string
}

// namespace has the sample workloads.
const namespace = deploy.SampleNamespace

// newWorld starts a cluster with the samples of the project.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{whole: t, Cluster: localcluster.ForTestWith(t, localcluster.Options{
		Nodes: "n2d=2,n4=2:speed=1.25,c3=2:speed=1.3,x9=1", MetricsServer: true,
		Work: []string{"samples/web-*/web={cpu: [{constant: 350m}, {noise: 20}], memory: 640Mi}", "samples/*/*={cpu: [{constant: 30m}, {noise: 20}], memory: 40Mi}"},
	})}
	w.client = kubernetes.NewForConfigOrDie(w.Config())
	config := append(deploy.SampleConfig(), "    prices: {currency: USD, cpuCoreHour: 0.03, memoryGiBHour: 0.004}\n"...)
	w.apply(t, append(deploy.Base(), config, deploy.SampleWorkloads())...)
	var err error
	if w.kubeconfig, err = localcluster.ServiceAccountKubeconfig(t.Context(), w.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if w.cert, err = localcluster.ServingCertificate(t.TempDir(), "workload-resizer."+deploy.Namespace+".svc"); err != nil {
		t.Fatal(err)
	}
	w.serve("")
	w.admin = w.person(t, "admin", "cluster-admin")
	return w
}

func (w *world) apply(t *testing.T, manifests ...[]byte) {
	t.Helper()
	if err := localcluster.Apply(t.Context(), w.Config(), manifests...); err != nil {
		t.Fatal(err)
	}
}

// serve starts the server, at an address if one is given, and waits until it is ready.
func (w *world) serve(address string) {
	t := w.whole
	t.Helper()
	w.server = localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: w.kubeconfig, GRPCAddress: address, Args: []string{
		"--usage-interval=10s", "--tls-cert-file", w.cert.CertFile, "--tls-private-key-file", w.cert.KeyFile,
	}})
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	if err := w.server.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
}

// person creates somebody with a ClusterRole, or with none, and returns a file with a token for the server.
func (w *world) person(t *testing.T, name, role string) string {
	t.Helper()
	if _, err := w.client.CoreV1().ServiceAccounts(deploy.Namespace).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if role != "" {
		if _, err := w.client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: deploy.Namespace, Name: name}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), name)
	w.token(t, name, path)
	return path
}

// token writes a new token of somebody to a file.
func (w *world) token(t *testing.T, name, path string) {
	t.Helper()
	token, err := w.client.CoreV1().ServiceAccounts(deploy.Namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"workload-resizer.io"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(token.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
}

// as returns the flags with which somebody calls the server.
func (w *world) as(token string) []string {
	return []string{"--server", w.server.GRPCAddress, "--certificate-authority", w.cert.CertFile, "--token-file", token}
}

// resizectl runs a command as the administrator.
func (w *world) resizectl(t *testing.T, args ...string) {
	t.Helper()
	if out, err := command(t, append(args, w.as(w.admin)...)...).CombinedOutput(); err != nil {
		t.Fatalf("resizectl %q: %v\n%s", args, err, out)
	}
}

// scale changes the number of pods of deployment/api.
func (w *world) scale(t *testing.T, replicas int) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, replicas)
	if _, err := w.client.AppsV1().Deployments(namespace).Patch(t.Context(), "api", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// pod returns the name of a pod of deployment/web.
func (w *world) pod(t *testing.T) (name string) {
	t.Helper()
	localcluster.Eventually(t, "a pod of deployment/web", func() error {
		pods, err := w.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=web"})
		if err != nil {
			return err
		}
		if len(pods.Items) == 0 {
			return errors.New("there is none")
		}
		name = pods.Items[0].Name
		return nil
	})
	return name
}

// command returns a command of resizectl, which knows nothing of the kubeconfig of the person who runs the tests.
func command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	path, err := localcluster.Binary("resizectl")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(t.TempDir(), "none"), "HOME="+t.TempDir())
	return cmd
}

// console is a running "resizectl console".
type console struct {
	testing.TB
	cmd *exec.Cmd
	// login is the address that it prints, and base that of its pages, without a slash at the end.
	login, base string
	began       time.Time
	ended       chan struct{}
}

var printed = regexp.MustCompile(`http://[0-9a-f]{32}\.localhost:\d+/login\?token=[0-9a-f]{32}`)

// run starts "resizectl console --no-open" with more arguments, and ends it with the test.
func run(t testing.TB, args ...string) *console {
	t.Helper()
	return runWith(t, command(t, append([]string{"console", "--no-open"}, args...)...))
}

// runWith is like run with a whole command.
func runWith(t testing.TB, cmd *exec.Cmd) *console {
	t.Helper()
	c := &console{TB: t, cmd: cmd, began: time.Now(), ended: make(chan struct{})}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	if cmd.Stderr == nil {
		cmd.Stderr = &said
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for c.login == "" && lines.Scan() {
		c.login = printed.FindString(lines.Text())
	}
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		close(c.ended)
	}()
	if c.login == "" {
		<-c.ended
		t.Fatalf("the console has printed no address, and says %s", said.String())
	}
	c.base, _, _ = strings.Cut(c.login, "/login")
	t.Cleanup(func() { c.signal(syscall.SIGCONT); c.end() })
	return c
}

// signal sends a signal.
func (c *console) signal(s syscall.Signal) { _ = c.cmd.Process.Signal(s) }

// stop stops the process, and waits until each of its threads has stopped: on a busy machine, they go on for a while.
func (c *console) stop() {
	c.Helper()
	c.signal(syscall.SIGSTOP)
	localcluster.Eventually(c, "the console to stop", func() error {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", c.cmd.Process.Pid))
		if err != nil {
			return err
		}
		for _, thread := range threads {
			if status, err := os.ReadFile(thread); err == nil && !strings.Contains(string(status), "\nState:\tT") {
				return fmt.Errorf("%s runs", thread)
			}
		}
		return nil
	})
}

// end ends the console as Ctrl-C does.
func (c *console) end() {
	c.signal(syscall.SIGINT)
	<-c.ended
}

// in logs a browser in, in a new tab.
func (c *console) in(b *chromium) *tab {
	c.Helper()
	one := b.open(c)
	one.visit(c.login)
	one.until("the page after the login", `location.pathname !== "/login" && document.getElementById("alive")?.textContent === "Live."`)
	return one
}
