package pictures

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var update = flag.Bool("update", false, "draw the pictures of the documentation, which takes minutes")

// watched is how long the dashboard shows.
const watched = 4 * time.Minute

func TestPictures(t *testing.T) {
	if !*update {
		return // draw_test.go checks the pictures. New ones differ, as they show times.
	}
	s := newScene(t)
	begin := time.Now()
	plan := s.terminal(t, "What resizectl plans", "ratios list", "plan -n samples", "explain -n samples bare")
	// Ratios that change give the dashboard something to show.
	for i, ratio := range []string{"1.4", "1.1", "1.3", "1.2"} {
		s.resizectl(t, "ratios", "set", "n4="+ratio, "--reason", "picture", "--yes")
		s.scale(t, "web", 5+i) // A new pod, for the time until it is resized.
		if i == 1 {
			s.resizectl(t, "pause", "-n", deploy.SampleNamespace, "--reason", "picture", "--yes")
		}
		if i == 2 {
			s.resizectl(t, "resume", "-n", deploy.SampleNamespace, "--yes")
		}
		s.wait(t, begin.Add(watched*time.Duration(i+1)/4))
	}
	d := overview(t)
	lines := map[string][]line{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			for _, series := range s.query(t, target.Expr, begin, time.Now()) {
				lines[p.Title] = append(lines[p.Title], line{legend(target.LegendFormat, series.Metric), series.Values})
			}
		}
	}
	for name, image := range map[string]string{"plan.svg": plan, "dashboard.svg": d.draw(lines, begin, time.Now())} {
		path := filepath.Join(root(t), "docs", "pictures", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(image), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// scene is a server with the sample workloads, and a Prometheus that scrapes it.
type scene struct {
	address    string
	kubeconfig string
	client     kubernetes.Interface
	prometheus promv1.API
}

func newScene(t *testing.T) *scene {
	cluster := localcluster.ForTest(t, "n2d=2,n4=2,c3=1")
	if err := localcluster.Apply(t.Context(), cluster.Config(), append(deploy.Base(), deploy.SampleConfig(), deploy.SampleWorkloads())...); err != nil {
		t.Fatal(err)
	}
	runtime, err := os.MkdirTemp("", "pictures-") // The name of a test is too long for the path of a socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(runtime) })
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), cluster.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{address: "unix://" + filepath.Join(runtime, "workload-resizer.sock"), kubeconfig: cluster.Kubeconfig, client: kubernetes.NewForConfigOrDie(cluster.Config())}
	server := localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: kubeconfig, GRPCAddress: s.address})
	if err := server.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: workload-resizer, static_configs: [{targets: [%q]}]}]\n", server.HTTPAddress)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.prometheus = localcluster.PrometheusForTest(t, dir)
	s.wait(t, time.Now().Add(20*time.Second)) // The samples get their sizes.
	return s
}

// scale changes the number of pods of a Deployment.
func (s *scene) scale(t *testing.T, deployment string, replicas int) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, replicas)
	if _, err := s.client.AppsV1().Deployments(deploy.SampleNamespace).Patch(t.Context(), deployment, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// wait waits until a time.
func (s *scene) wait(t *testing.T, until time.Time) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	case <-time.After(time.Until(until)):
	}
}

// resizectl runs a command and returns what it prints.
func (s *scene) resizectl(t *testing.T, args ...string) string {
	t.Helper()
	path, err := localcluster.Binary("resizectl")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = append(os.Environ(), "RESIZECTL_SERVER="+s.address, "KUBECONFIG="+s.kubeconfig)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 { // 1 means that a plan has pods to look at.
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// terminal draws commands and what they print.
func (s *scene) terminal(t *testing.T, title string, commands ...string) string {
	t.Helper()
	var lines []string
	for _, command := range commands {
		if lines != nil {
			lines = append(lines, "")
		}
		lines = append(lines, "$ resizectl "+command)
		lines = append(lines, strings.Split(strings.TrimRight(s.resizectl(t, strings.Fields(command)...), "\n"), "\n")...)
	}
	return terminal(title, lines)
}

// query returns the series of an expression.
func (s *scene) query(t *testing.T, expr string, begin, end time.Time) model.Matrix {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	value, _, _, err := s.prometheus.QueryRange(ctx, query(expr), promv1.Range{Start: begin, End: end, Step: 2 * time.Second})
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	matrix, ok := value.(model.Matrix)
	if !ok {
		t.Fatalf("%s: got a %s", expr, value.Type())
	}
	return matrix
}
