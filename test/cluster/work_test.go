package main_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// tolerance is how far measured usage may be off.
const tolerance = 0.02

// TestWork runs on a clock that is 60 times faster: a minute of work takes a second. All pods
// start together, so that the rules that take time only wait for what has not happened yet.
func TestWork(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	client := up(t, dir, "--nodes", "slow=2,fast=1:speed=1.25,faster=1:speed=2", "--node-cpu", "4", "--time-scale", "60",
		"--metrics-server", program(t, "metrics-server"), "--prometheus", program(t, "prometheus"),
		"--work", "default/ruled-*/main={cpu: 300m, memory: 48Mi}")
	w := &working{client: client, dir: dir, prometheus: prometheusURL(t, dir)}

	none := corev1.ResourceRequirements{}
	w.run(t, "flickers", "fast-0", "ready: {after: 2m, lost: [{at: 6m, for: 4m}]}", none)
	for _, node := range []string{"slow-0", "fast-0", "faster-0"} {
		w.run(t, "steady-"+node, node, "{cpu: 500m, memory: 100Mi}", none)
	}
	w.run(t, "ruled-1", "slow-0", "", none)
	w.run(t, "throttled", "slow-0", "{cpu: 500m, ready: {share: 80}}", resources("100m", "32Mi", "200m", "32Mi"))
	w.run(t, "heavy", "slow-1", "cpu: 8", resources("1500m", "16Mi", "", ""))
	w.run(t, "light", "slow-1", "cpu: 4", resources("500m", "16Mi", "", ""))
	w.run(t, "killed", "fast-0", "memory: [{constant: 16Mi}, {leak: 20Mi, every: 1m}]", resources("", "", "", "64Mi"))
	const startup = "{cpu: 10m, startup: {coreSeconds: 480, cores: 2}}"
	w.run(t, "starts-freely", "faster-0", startup, none)
	w.run(t, "starts-slowly", "faster-0", startup, resources("", "", "500m", ""))
	w.run(t, "fails", "fast-0", "job: {coreSeconds: 120, exitCode: 3}", none)
	w.run(t, "invalid", "fast-0", "cpu: much", none)

	t.Run("other web pages cannot read Prometheus", w.testOrigin)
	t.Run("readiness is lost and regained", w.testReadiness)
	t.Run("invalid work is an error of its container", w.testInvalid)
	t.Run("a job ends with its exit code", w.testJob)
	t.Run("startup work takes as long as the limit allows", w.testStartup)
	t.Run("nodes of three speeds use what work needs there", w.testSpeeds)
	t.Run("a rule declares the work of whole workloads", w.testRule)
	t.Run("starved containers share the cores by weight", w.testStarved)
	t.Run("a container above its memory limit is killed again and again", w.testKilled)
	t.Run("a running container does what its annotation says now", w.testChanged)
	t.Run("a node without memory says so", w.testNodeOutOfMemory)
	t.Run("a throttled container is measured as declared, until it is resized", w.testThrottled)
}

// working is a cluster whose containers work.
type working struct {
	client     kubernetes.Interface
	dir        string
	prometheus string
}

// program returns the path of a program that make has built.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../bin", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("find bin/%s: %v; run \"make bin/%s\"", name, err, name)
	}
	return path
}

// prometheusURL returns the URL that status shows.
func prometheusURL(t *testing.T, dir string) string {
	t.Helper()
	for line := range strings.Lines(mustRun(t, "status", "--dir", dir).stdout) {
		if address, found := strings.CutPrefix(line, "Prometheus:"); found {
			return strings.TrimSpace(address)
		}
	}
	t.Fatal("status shows no URL of Prometheus")
	return ""
}

// run creates a pod on a node that does the declared work.
func (w *working) run(t *testing.T, name, node, declaration string, resources corev1.ResourceRequirements) {
	t.Helper()
	template := newTemplate(name, resources)
	template.Spec.NodeName = node
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name = name
	if declaration != "" {
		pod.Annotations = map[string]string{"work.testcluster.local/main": declaration}
	}
	if _, err := w.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// status waits until the status of a pod's container meets a condition.
func (w *working) status(t *testing.T, pod string, condition func(corev1.ContainerStatus) error) {
	t.Helper()
	eventually(t, time.Minute, func(ctx context.Context) error {
		pod, err := w.client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(pod.Status.ContainerStatuses) == 0 {
			return errors.New("the container has no status")
		}
		return condition(pod.Status.ContainerStatuses[0])
	})
}

// top waits until kubectl top shows this usage.
func (w *working) top(t *testing.T, pod string, cores float64, memory string) {
	t.Helper()
	kubectl := program(t, "kubectl")
	eventually(t, time.Minute, func(ctx context.Context) error {
		out, err := exec.CommandContext(ctx, kubectl, "--kubeconfig", filepath.Join(w.dir, "kubeconfig"), "top", "pod", pod, "--no-headers").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		fields := strings.Fields(string(out))
		if len(fields) != 3 || fields[2] != memory {
			return fmt.Errorf("got %s, want %s", out, memory)
		}
		usage, err := resource.ParseQuantity(fields[1])
		if err != nil {
			return err
		}
		return within(usage.AsApproximateFloat64(), cores)
	})
}

// query waits until a query of Prometheus has this result.
func (w *working) query(t *testing.T, query string, want float64) {
	t.Helper()
	eventually(t, time.Minute, func(ctx context.Context) error {
		var response struct {
			Data struct {
				Result []struct {
					Value []any `json:"value"`
				} `json:"result"`
			} `json:"data"`
		}
		address := w.prometheus + "/api/v1/query?query=" + url.QueryEscape(query)
		if err := getJSON(ctx, http.DefaultClient, address, &response); err != nil {
			return err
		}
		if len(response.Data.Result) != 1 || len(response.Data.Result[0].Value) != 2 {
			return fmt.Errorf("%s returns %v", query, response.Data.Result)
		}
		got, err := strconv.ParseFloat(fmt.Sprint(response.Data.Result[0].Value[1]), 64)
		if err != nil {
			return err
		}
		if err := within(got, want); err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
		return nil
	})
}

func getJSON(ctx context.Context, client *http.Client, address string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

func within(got, want float64) error {
	if math.Abs(got-want) > want*tolerance {
		return fmt.Errorf("got %g, want %g", got, want)
	}
	return nil
}

func (w *working) testOrigin(t *testing.T) {
	for origin, want := range map[string]string{w.prometheus: w.prometheus, "http://elsewhere.example": "", "null": ""} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.prometheus+"/api/v1/query?query=up", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", origin)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s is told that %q may read", origin, got)
		}
	}
}

func (w *working) testSpeeds(t *testing.T) {
	nodes := map[string]float64{"slow-0": 0.5, "fast-0": 0.4, "faster-0": 0.25}
	for node, cores := range nodes {
		w.top(t, "steady-"+node, cores, "100Mi")
		for _, path := range []string{"/metrics/resource", "/metrics/cadvisor"} {
			w.query(t, fmt.Sprintf(`irate(container_cpu_usage_seconds_total{pod="steady-%s", container="main", metrics_path=%q}[1m])`, node, path), cores)
		}
		w.query(t, fmt.Sprintf(`container_memory_working_set_bytes{pod="steady-%s", container="main", metrics_path="/metrics/cadvisor"}`, node), 100<<20)
	}
}

func (w *working) testRule(t *testing.T) {
	w.top(t, "ruled-1", 0.3, "48Mi")
}

func (w *working) testThrottled(t *testing.T) {
	const pod = "throttled"
	series := func(name string) string {
		return fmt.Sprintf(`irate(%s{pod=%q, container="main", metrics_path="/metrics/cadvisor"}[1m])`, name, pod)
	}
	w.top(t, pod, 0.2, "16Mi")
	w.query(t, series("container_cpu_cfs_throttled_seconds_total"), 0.3)
	w.query(t, series("container_cpu_cfs_throttled_periods_total")+" / "+series("container_cpu_cfs_periods_total"), 1)
	w.query(t, series("container_pressure_cpu_waiting_seconds_total"), 0.6)
	w.query(t, series("container_pressure_cpu_stalled_seconds_total"), 0.6)
	w.testSummary(t, pod)
	ready := func(want bool) func(corev1.ContainerStatus) error {
		return func(status corev1.ContainerStatus) error {
			if status.Ready != want {
				return fmt.Errorf("ready: %t", status.Ready)
			}
			return nil
		}
	}
	w.status(t, pod, ready(false))

	resize(t, w.client, pod, "main", resources("100m", "32Mi", "600m", "32Mi"))
	w.status(t, pod, ready(true))
	w.query(t, series("container_cpu_usage_seconds_total"), 0.5)
	w.query(t, series("container_pressure_cpu_waiting_seconds_total"), 0)
}

// testSummary checks the pressure that the kubelet's Summary API reports.
func (w *working) testSummary(t *testing.T, pod string) {
	t.Helper()
	var cluster struct {
		Nodes []struct {
			Name        string `json:"name"`
			KubeletPort int    `json:"kubeletPort"`
		} `json:"nodes"`
	}
	description, err := os.ReadFile(filepath.Join(w.dir, "cluster.json"))
	if err == nil {
		err = json.Unmarshal(description, &cluster)
	}
	if err != nil {
		t.Fatal(err)
	}
	var summary struct {
		Pods []struct {
			PodRef struct {
				Name string `json:"name"`
			} `json:"podRef"`
			Containers []struct {
				CPU struct {
					PSI struct {
						Some struct {
							Avg10 float64 `json:"avg10"`
						} `json:"some"`
					} `json:"psi"`
				} `json:"cpu"`
			} `json:"containers"`
		} `json:"pods"`
	}
	address := fmt.Sprintf("https://127.0.0.1:%d/stats/summary", cluster.Nodes[0].KubeletPort)
	kubelet := w.kubeletClient(t)
	eventually(t, time.Minute, func(ctx context.Context) error {
		if err := getJSON(ctx, kubelet, address, &summary); err != nil {
			return err
		}
		for _, stats := range summary.Pods {
			if stats.PodRef.Name == pod && len(stats.Containers) == 1 {
				return within(stats.Containers[0].CPU.PSI.Some.Avg10, 60)
			}
		}
		return fmt.Errorf("pod %s has no container in %+v", pod, summary)
	})
}

// kubeletClient returns a client that kubelets accept.
func (w *working) kubeletClient(t *testing.T) *http.Client {
	t.Helper()
	file := func(name string) string { return filepath.Join(w.dir, "pki", name) }
	certificate, err := tls.LoadX509KeyPair(file("kubelet-client.crt"), file("kubelet-client.key"))
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(file("ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}}}}
}

func (w *working) testStarved(t *testing.T) {
	// The node's own processes need 0.01 of its 4 cores.
	w.top(t, "heavy", 3.99*0.75, "16Mi")
	w.top(t, "light", 3.99*0.25, "16Mi")
	w.query(t, `irate(container_pressure_cpu_waiting_seconds_total{pod="light", container="main"}[1m])`, 1-3.99*0.25/4)
	w.query(t, `irate(container_pressure_cpu_stalled_seconds_total{pod="light", container="main"}[1m])`, 1-3.99*0.25/4)
}

func (w *working) testKilled(t *testing.T) {
	const pod = "killed"
	w.status(t, pod, func(status corev1.ContainerStatus) error {
		ended := status.LastTerminationState.Terminated
		if ended == nil || status.RestartCount < 2 {
			return fmt.Errorf("%d restarts", status.RestartCount)
		}
		if ended.ExitCode != 137 || ended.Reason != "OOMKilled" {
			t.Errorf("the container ended with %d, %s", ended.ExitCode, ended.Reason)
		}
		return nil
	})
	w.event(t, namespace, pod, "BackOff")
}

func (w *working) testChanged(t *testing.T) {
	const pod = "steady-fast-0"
	w.annotate(t, pod, "cpu: much")
	w.event(t, namespace, pod, "InvalidWork")
	w.query(t, `irate(container_cpu_usage_seconds_total{pod="steady-fast-0", container="main", metrics_path="/metrics/cadvisor"}[1m])`, 0.4)
	w.annotate(t, pod, "{cpu: 1, ready: {lost: [{for: 1000h}]}}")
	w.query(t, `irate(container_cpu_usage_seconds_total{pod="steady-fast-0", container="main", metrics_path="/metrics/cadvisor"}[1m])`, 0.8)
	w.status(t, pod, func(status corev1.ContainerStatus) error {
		if status.Ready || status.RestartCount != 0 {
			return fmt.Errorf("ready: %t, %d restarts", status.Ready, status.RestartCount)
		}
		return nil
	})
	w.annotate(t, pod, "job: {coreSeconds: 0.1, exitCode: 9}")
	w.status(t, pod, func(status corev1.ContainerStatus) error {
		if ended := status.LastTerminationState.Terminated; ended == nil || ended.ExitCode != 9 {
			return fmt.Errorf("the last run ended with %v", ended)
		}
		return nil
	})
}

func (w *working) testNodeOutOfMemory(t *testing.T) {
	w.annotate(t, "light", "memory: 64Gi")
	w.event(t, metav1.NamespaceDefault, "slow-1", "SystemOOM")
}

// annotate changes the work of a pod.
func (w *working) annotate(t *testing.T, pod, declaration string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{"work.testcluster.local/main": declaration}}})
	if err == nil {
		_, err = w.client.CoreV1().Pods(namespace).Patch(t.Context(), pod, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// event waits for an event of the kubelet about an object.
func (w *working) event(t *testing.T, namespace, object, reason string) {
	t.Helper()
	eventually(t, time.Minute, func(ctx context.Context) error {
		events, err := w.client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + object})
		if err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.Reason == reason && event.Source.Component == "kubelet" {
				return nil
			}
		}
		return fmt.Errorf("no %s in %d events", reason, len(events.Items))
	})
}

func (w *working) testStartup(t *testing.T) {
	for pod, cores := range map[string]float64{"starts-freely": 2, "starts-slowly": 0.5} {
		// On a node of speed 2, and a clock that is 60 times faster.
		want := 480 / (2 * cores) / 60
		awaitPod(t, w.client, pod)
		ready, started := w.times(t, pod)
		if took := ready.Sub(started).Seconds(); math.Abs(took-want) > 3 {
			t.Errorf("%s took %g s, want %g", pod, took, want)
		}
	}
}

// times returns when a pod became ready, and when its container started.
func (w *working) times(t *testing.T, name string) (ready, started time.Time) {
	t.Helper()
	pod, err := w.client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			ready = condition.LastTransitionTime.Time
		}
	}
	return ready, pod.Status.ContainerStatuses[0].State.Running.StartedAt.Time
}

func (w *working) testReadiness(t *testing.T) {
	const pod = "flickers"
	for _, want := range []bool{false, true, false, true} {
		w.status(t, pod, func(status corev1.ContainerStatus) error {
			if status.State.Running == nil || status.Ready != want {
				return fmt.Errorf("ready: %t, want %t", status.Ready, want)
			}
			return nil
		})
	}
}

func (w *working) testJob(t *testing.T) {
	w.status(t, "fails", func(status corev1.ContainerStatus) error {
		ended := status.LastTerminationState.Terminated
		if ended == nil || ended.ExitCode != 3 {
			return fmt.Errorf("the last run ended with %v", ended)
		}
		return nil
	})
}

func (w *working) testInvalid(t *testing.T) {
	w.status(t, "invalid", func(status corev1.ContainerStatus) error {
		const want = `annotation work.testcluster.local/main: `
		if waiting := status.State.Waiting; waiting == nil || !strings.Contains(waiting.Message, want) {
			return fmt.Errorf("the state is %+v", status.State)
		}
		return nil
	})
}
