package neighbors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/steppedclock"
)

const (
	workloads = 10
	// reported is how many samples of 4 minutes are reported of each pod. More would not be taken from one sender.
	reported = 60
	// configOf shares all in a mode. Nothing is known of the time before the pods, so a decrease needs no history.
	configOf = `
apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n2d
    nodeTypes:
      n2d: {cpuPerf: 1, memPerf: 1}
      n4: {cpuPerf: 1.25, memPerf: 1}
    pace: {resizesPerSecond: 0, freedPerHour: 0}
    guard: {enabled: false}
    demand: {from: usage, mode: %s, policy: shared, minHistory: 0s, minCoverage: 0, memory: {share: true}}
    eviction: {enabled: true, maxPerHour: 100}
`
	deployment = `
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: w%[1]d, namespace: shop}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: w%[1]d}}
  template:
    metadata: {labels: {app: w%[1]d}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: app
        image: none
        resources: {requests: {cpu: 900m, memory: 600Mi}, limits: {cpu: "2", memory: 2Gi}}
`
)

// world is a cluster with a server.
type world struct {
	*localcluster.Cluster
	client     kubernetes.Interface
	kubeconfig string
	// each is how many pods each workload has, and args are the arguments of the server.
	each     int
	args     []string
	replicas []*replica
}

// now is the time by the clocks of servers that are a day ahead: in the time between, by these clocks, the pods have worked.
func now() time.Time { return time.Now().Add(30*time.Hour + time.Duration(later.Load())) }

// later is how much more they are ahead.
var later atomic.Int64

// replica is a process of the server.
type replica struct {
	*localcluster.Server
	api *client.Client
}

// newWorld returns a cluster where each workload has so many pods, none of them on cordoned nodes. The server has these
// arguments, and the rights that they need.
func newWorld(t *testing.T, options localcluster.Options, each, cordoned int, args ...string) *world {
	t.Helper()
	w := &world{Cluster: localcluster.ForTestWith(t, options), each: each, args: append(args, "--usage-sources=push", "--leader-lease-duration=10s")}
	w.client = kubernetes.NewForConfigOrDie(w.Config())
	if err := w.Install(t.Context(), "deploy/base", deploy.Namespace, "workload-resizer"); err != nil {
		t.Fatal(err)
	}
	manifests := "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
	for i := range workloads {
		manifests += fmt.Sprintf(deployment, i, each)
	}
	for _, name := range w.nodeNames(t)[:cordoned] {
		w.cordon(t, name, true)
	}
	for _, m := range deploy.EvictPods() {
		w.apply(t, string(m))
	}
	w.apply(t, fmt.Sprintf(configOf, "observe"))
	w.apply(t, manifests)
	var err error
	if w.kubeconfig, err = localcluster.ServiceAccountKubeconfig(t.Context(), w.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	w.run(t)
	return w
}

// run waits until all pods are ready.
func (w *world) run(t *testing.T) {
	t.Helper()
	localcluster.Eventually(t, "all pods to be ready", func() error {
		n := 0
		for _, p := range w.pods(t) {
			if ready(&p) {
				n++
			}
		}
		if n != workloads*w.each {
			return fmt.Errorf("%d are", n)
		}
		return nil
	})
}

func ready(p *corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (w *world) nodeNames(t *testing.T) (names []string) {
	t.Helper()
	list, err := w.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// cordon lets the scheduler use a node, or not.
func (w *world) cordon(t *testing.T, node string, is bool) {
	t.Helper()
	if _, err := w.client.CoreV1().Nodes().Patch(t.Context(), node, types.StrategicMergePatchType, fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, is), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) apply(t *testing.T, manifest string) {
	t.Helper()
	localcluster.Eventually(t, "the manifest to be applied", func() error {
		return localcluster.Apply(t.Context(), w.Config(), []byte(manifest))
	})
}

// serve starts a server whose clock has the time of now.
func (w *world) serve(t *testing.T, now func() time.Time) *replica {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clock")
	clock, err := steppedclock.Create(path, now())
	if err != nil {
		t.Fatal(err)
	}
	started := localcluster.ServerForTest(t, localcluster.ServerOptions{
		Program: "workload-resizer-stepped", Kubeconfig: w.kubeconfig, Args: w.args,
		Env: []string{steppedclock.Variable + "=" + path},
	})
	go func() { // A clock that stands still would let nothing happen.
		for t.Context().Err() == nil {
			if err := clock.Move(now()); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	if err := started.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	api, err := client.Dial(started.GRPCAddress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	return &replica{started, api}
}

// scaled lets a server scale the pods for their nodes, which it does while nothing is known of usage. A day later, they may be
// resized again.
func (w *world) scaled(t *testing.T) {
	t.Helper()
	r := w.serve(t, time.Now)
	localcluster.Eventually(t, "all pods to be scaled", func() error {
		for _, p := range w.pods(t) {
			if p.Annotations["workload-resizer.io/applied-instance-type"] == "" {
				return fmt.Errorf("pod %s is not", p.Name)
			}
		}
		return nil
	})
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
}

func (w *world) pods(t *testing.T) []corev1.Pod {
	t.Helper()
	list, err := w.client.CoreV1().Pods("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// memoryOf is how much memory a container of a workload uses most of the time.
func memoryOf(workload int) int64 { return int64(100+10*workload) << 20 }

// uses is what a container of a workload uses at a time: little, but ten times as much cpu and four times as much memory in
// five minutes of every four hours until a time. The peaks of workloads come one after the other, and none within the last half
// hour: a container keeps what it has used lately.
func uses(workload int, at, until time.Time, length time.Duration) *workloadresizerv1.ContainerUsage {
	cpu, memory := 0.05+0.01*float64(workload), memoryOf(workload)
	if int(until.Sub(at)/(5*time.Minute))%48 == 4*workload+6 {
		cpu, memory = 10*cpu, 4*memory
	}
	return &workloadresizerv1.ContainerUsage{
		Container: "app", EndTime: timestamppb.New(at), MeasureDuration: durationpb.New(length), CpuCores: &cpu, MemoryPeakBytes: &memory,
	}
}

// report sends usages of pods to a server that collects them. Pods may move meanwhile.
func (w *world) report(t *testing.T, of func(p *corev1.Pod, workload int) []*workloadresizerv1.ContainerUsage) {
	t.Helper()
	localcluster.Eventually(t, "a server to take the reports", func() (err error) {
		var all []*workloadresizerv1.ContainerUsage
		for _, p := range w.pods(t) {
			if !ready(&p) {
				continue
			}
			var workload int
			if _, err := fmt.Sscanf(p.Labels["app"], "w%d", &workload); err != nil {
				return err
			}
			for _, u := range of(&p, workload) {
				u.PodUid = string(p.UID)
				all = append(all, u)
			}
		}
		for _, r := range w.replicas {
			var response *workloadresizerv1.ReportUsageResponse
			if response, err = send(t.Context(), r.api, all); err == nil && response.GetRejected() > 0 {
				err = errors.New(response.GetErrors()[0].String())
			}
			if err == nil {
				return nil
			}
		}
		return err
	})
}

func send(ctx context.Context, api *client.Client, all []*workloadresizerv1.ContainerUsage) (*workloadresizerv1.ReportUsageResponse, error) {
	stream, err := api.Usage().ReportUsage(ctx)
	if err != nil {
		return nil, err
	}
	for len(all) > 0 {
		n := min(len(all), 500)
		if err := stream.Send(&workloadresizerv1.ReportUsageRequest{Usages: all[:n]}); err != nil {
			break // CloseAndRecv says why.
		}
		all = all[n:]
	}
	return stream.CloseAndRecv()
}

// resources are the resources that are shared.
var resources = [...]string{"cpu", "memory"}

// node is what the pods on a node need and request of each resource.
type node struct {
	pods             int
	requests, steady [len(resources)]float64
	// rests has the rest of each workload, and share is the share that the plans of its pods have.
	rests [len(resources)]map[string]float64
	share [len(resources)]float64
}

// formula returns the share of the rests, and what the pods should request together.
func (n *node) formula(i int) (share, total float64) {
	var sum, squares float64
	for _, rest := range n.rests[i] {
		sum, squares = sum+rest, squares+rest*rest
	}
	if sum > 0 {
		share = math.Sqrt(squares) / sum
	}
	return share, n.steady[i] + share*sum
}

// nodes returns the nodes by name, once all pods have the size of their plans.
func (w *world) nodes(t *testing.T) (map[string]*node, error) {
	all, done := map[string]*node{}, 0
	plans := w.replicas[0].api.PreviewPlans(t.Context(), "shop")
	for p, err := range plans.All() {
		if err != nil {
			return nil, err
		}
		n := all[p.GetNode()]
		if n == nil {
			n = &node{rests: [len(resources)]map[string]float64{{}, {}}}
			all[p.GetNode()] = n
		}
		n.pods++
		c := p.GetContainers()[0]
		for i, factor := range [...]float64{p.GetCpuFactor(), p.GetMemoryFactor()} {
			of := c.GetDemands()[resources[i]].GetShared()
			if of == nil {
				return nil, fmt.Errorf("pod %s shares no %s: %v", p.GetPod(), resources[i], p)
			}
			steady := amount(t, of.GetSteady()) * factor
			n.steady[i] += steady
			n.rests[i][strings.Split(p.GetPod(), "-")[0]] += amount(t, of.GetPeak())*factor - steady
			n.share[i] = of.GetShare()
			has, wants := amount(t, c.GetCurrent().GetRequests()[resources[i]]), steady+of.GetShare()*(amount(t, of.GetPeak())*factor-steady)
			if math.Abs(has-wants) > wants/10+0.001 { // Nearer sizes stay.
				return nil, fmt.Errorf("pod %s has %v of %s, want %v: %v", p.GetPod(), has, resources[i], wants, p)
			}
			n.requests[i] += has
		}
		if p.GetDecision() != workloadresizerv1.Decision_DECISION_ALIGNED {
			return nil, fmt.Errorf("pod %s is not done: %v", p.GetPod(), p)
		}
		done++
	}
	if done != workloads*w.each {
		return nil, fmt.Errorf("%d plans", done)
	}
	return all, nil
}

// knows waits until a server knows all reports: the leader has read them, and others what it has stored.
func (w *world) knows(t *testing.T, of *replica) {
	t.Helper()
	localcluster.Eventually(t, "all reports to be known", func() error {
		for i := range workloads {
			r, err := of.api.Usage().GetRecommendation(t.Context(), &workloadresizerv1.GetRecommendationRequest{
				Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: fmt.Sprint("w", i)},
			})
			if err != nil {
				return err
			}
			var samples int64
			for _, on := range r.GetContainers()[0].GetMeasured() {
				samples += on.GetSamples()
			}
			if samples != int64(w.each*(reported+1)) {
				return fmt.Errorf("%d samples of workload %d are known", samples, i)
			}
		}
		return nil
	})
}

// raised waits until the node of each container has set aside nearly as much memory as the test reports, and returns how long
// that took.
func (w *world) raised(t *testing.T, uses func(*corev1.Pod) int64) time.Duration {
	t.Helper()
	began := time.Now()
	localcluster.Eventually(t, "all containers to have what they use", func() error {
		for _, p := range w.pods(t) {
			if used := uses(&p); used > 0 && (!ready(&p) || p.Status.ContainerStatuses[0].Resources.Requests.Memory().Value() < used*9/10) {
				return fmt.Errorf("pod %s uses %d bytes, and has %+v", p.Name, used, p.Status.ContainerStatuses)
			}
		}
		return nil
	})
	return time.Since(began)
}

func amount(t *testing.T, text string) float64 {
	t.Helper()
	q, err := resource.ParseQuantity(text)
	if err != nil {
		t.Fatal(err)
	}
	return q.AsApproximateFloat64()
}

// shared returns a world in which the pods share what they rarely need, as their reports say, and two replicas of the server
// know that.
func shared(t *testing.T, w *world) {
	t.Helper()
	w.scaled(t)
	w.replicas = append(w.replicas, w.serve(t, now))
	until := now()
	w.report(t, func(_ *corev1.Pod, workload int) (all []*workloadresizerv1.ContainerUsage) {
		for ago := 4 * reported; ago >= 0; ago -= 4 {
			all = append(all, uses(workload, until.Add(-time.Duration(ago)*time.Minute), until, 4*time.Minute))
		}
		return all
	})
	w.knows(t, w.replicas[0])
	w.apply(t, fmt.Sprintf(configOf, "apply"))
	localcluster.Eventually(t, "all pods to have their shares", func() (err error) {
		_, err = w.nodes(t)
		return err
	})
	w.replicas = append(w.replicas, w.serve(t, now)) // It leads later.
	later.Add(int64(10 * time.Minute))               // The leader stores what it knows.
	w.knows(t, w.replicas[1])
}

// killLeader kills the first replica.
func (w *world) killLeader(t *testing.T) {
	t.Helper()
	if err := w.replicas[0].Kill(); err != nil {
		t.Fatal(err)
	}
	w.replicas = w.replicas[1:]
}

// spike reports that all containers that ran before use a multiple of their memory now, and returns how much those of each
// workload use.
func (w *world) spike(t *testing.T, multiple float64) map[string]int64 {
	t.Helper()
	used := map[string]int64{}
	for workload := range workloads {
		used[fmt.Sprint("w", workload)] = int64(multiple * float64(memoryOf(workload)))
	}
	w.report(t, func(p *corev1.Pod, workload int) []*workloadresizerv1.ContainerUsage {
		at := now()
		u := uses(workload, at, at, 5*time.Second)
		u.MemoryPeakBytes = new(used[p.Labels["app"]])
		return []*workloadresizerv1.ContainerUsage{u}
	})
	return used
}

// unharmed checks that no container has restarted, and stops the servers.
func (w *world) unharmed(t *testing.T) {
	t.Helper()
	for _, p := range w.pods(t) {
		if n := p.Status.ContainerStatuses[0].RestartCount; n != 0 {
			t.Errorf("pod %s has restarted %d times", p.Name, n)
		}
	}
	for _, r := range w.replicas {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestNeighbors(t *testing.T) {
	w := newWorld(t, localcluster.Options{Nodes: "n2d=3,n4=3:speed=1.25", NodeCPU: 32, NodeMemory: "24Gi"}, 20, 0)
	shared(t, w)
	var nodes map[string]*node
	localcluster.Eventually(t, "all pods to have their shares", func() (err error) {
		nodes, err = w.nodes(t)
		return err
	})
	for name, n := range nodes {
		for i, resource := range resources {
			share, total := n.formula(i)
			t.Logf("node %s: %d pods share %.3f of the rests of %s, and request %.4g; the formula says %.3f and %.4g", name, n.pods, n.share[i], resource, n.requests[i], share, total)
			// Sizes are rounded up, to a Mi of memory.
			if math.Abs(n.share[i]-share) > 0.01 || n.requests[i] > total*1.02 || share == 0 || share > 0.9 {
				t.Errorf("node %s: share %v of %s, want %v; %v requested, want %v", name, n.share[i], resource, share, n.requests[i], total)
			}
		}
	}
	for round, multiple := range []float64{3, 4.5} {
		if round == 1 {
			w.killLeader(t)
		}
		used := w.spike(t, multiple)
		t.Logf("all containers had what they used %v after the reports of round %d", w.raised(t, func(p *corev1.Pod) int64 { return used[p.Labels["app"]] }).Round(time.Millisecond), round)
	}
	w.unharmed(t)
}

// evicted returns how many events say that a pod was evicted.
func (w *world) evicted(t *testing.T) int {
	t.Helper()
	events, err := w.client.CoreV1().Events("shop").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=Evicted"})
	if err != nil {
		t.Fatal(err)
	}
	return len(events.Items)
}

// TestFullNode lets all pods of a node use more memory together than the node has, while another node has room.
func TestFullNode(t *testing.T) {
	w := newWorld(t, localcluster.Options{Nodes: "n4=2:speed=1.25", NodeCPU: 32, NodeMemory: "16Gi"}, 2, 1, "--evict-pods")
	shared(t, w)
	names := w.nodeNames(t)
	w.cordon(t, names[0], false)
	for round, multiple := range []float64{7, 9.5} {
		if round == 1 {
			w.killLeader(t)
		}
		before := map[types.UID]bool{}
		for _, p := range w.pods(t) {
			before[p.UID] = p.Spec.NodeName == names[1]
		}
		evicted := w.evicted(t)
		used := w.spike(t, multiple)
		began := time.Now()
		localcluster.Eventually(t, "a pod to move", func() error {
			if w.evicted(t) == evicted {
				return errors.New("no event says so")
			}
			return nil
		})
		t.Logf("the first pod was evicted %v after the reports of round %d", time.Since(began).Round(time.Millisecond), round)
		took := w.raised(t, func(p *corev1.Pod) int64 {
			if !before[p.UID] {
				return 0 // It uses nothing yet, as far as reports say.
			}
			return used[p.Labels["app"]]
		})
		w.run(t)
		moved := 0
		for _, p := range w.pods(t) {
			delete(before, p.UID)
		}
		for _, was := range before {
			if was {
				moved++
			}
		}
		t.Logf("all containers that stayed had what they used %v after that; %d of their pods had moved", took.Round(time.Millisecond), moved)
	}
	w.unharmed(t)
}
