package usage

import (
	"context"
	"fmt"
	"net"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
	"github.com/workload-resizer/workload-resizer/usage/metricsapi"
	"github.com/workload-resizer/workload-resizer/usage/push"
)

const (
	// scaleReplicas is how many pods a workload has.
	scaleReplicas = 15
	// past is how much history there is before the measurements begin, and pastStep the time between
	// its samples.
	past, pastStep = 8 * 24 * time.Hour, 12 * time.Hour
	// beat is how often pushed usage is read. The agents' minutes end at different times.
	beat  = 5 * time.Second
	beats = int(time.Minute / beat)
)

// scaleCluster returns a cluster with this many pods, 15 for each workload. One namespace has a fifth of
// them.
func scaleCluster(b *testing.B, pods int) *cluster.Cluster {
	b.Helper()
	types := []string{"n2d", "n4", "c3", "e2"}
	nodes := make([]*corev1.Node, scaleNodes(pods))
	for i := range nodes {
		nodes[i] = clustertest.Node(scaleNode(i), types[i%len(types)], "64")
	}
	typical, all := podtest.Typical(b), make([]*corev1.Pod, pods)
	for i := range all {
		p := typical.DeepCopy()
		clustertest.Named(scaleNamespace(i), scalePod(i), scaleNode(i%len(nodes)))(p)
		const template = "66fb46dc94"
		podtest.OwnedBy(p, "ReplicaSet", fmt.Sprintf("checkout-%d-%s", i/scaleReplicas, template))
		p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = template
		p.CreationTimestamp = metav1.NewTime(time.Now().Add(-2 * past))
		all[i] = p
	}
	c := clustertest.Of(b, all, nodes)
	layer := clustertest.Published()
	layer.Ratios["c3"], layer.Ratios["e2"] = ratios.Ratio{CPUPerf: 1.3, MemoryPerf: 1}, ratios.Ratio{CPUPerf: 0.8, MemoryPerf: 1}
	c.Ratios = clustertest.Store(b, layer)
	return c
}

// scale is a server that collects the usage of a cluster, and the programs that measure it, which are
// another process.
type scale struct {
	*testing.B
	pods    int
	of      *cluster.Cluster
	keeping *localcluster.Namespace
	writes  atomic.Int64
	others  *others
	clock   *testingclock.FakeClock

	demands   *demand.Demands
	keeper    *checkpoint.Keeper
	published <-chan struct{}
	address   string
	stop      func()
}

// start starts the server's collection of usage from one source.
func (s *scale) start(source string) {
	s.Helper()
	s.keeper = checkpoint.New(checkpoint.Config{
		Client: counted{kubernetes.NewForConfigOrDie(s.keeping.Config()).CoreV1(), &s.writes}, Namespace: s.keeping.Name, Prefix: "usage",
		Labels: map[string]string{"app.kubernetes.io/name": "workload-resizer"}, FieldManager: "workload-resizer", Interval: checkpoint.Interval, Clock: s.clock,
	})
	pushed := push.New()
	of := demand.Source{Source: pushed, Interval: beat}
	if source == "metrics" {
		config := &rest.Config{Host: s.others.address, ContentConfig: rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"}, QPS: -1}
		client, err := metricsclient.NewForConfig(config)
		if err != nil {
			s.Fatal(err)
		}
		of = demand.Source{Source: &metricsapi.Source{Client: client, Namespaces: s.of.Pods("").Namespaces}, Interval: time.Minute}
	}
	s.demands = demand.New(demand.Config{
		Cluster: s.of, Ratios: s.of.Ratios, Planner: s.of.Planner, Leads: func() bool { return true }, Clock: s.clock,
		Usage: demand.Usage{Sources: []demand.Source{of}, Keeper: s.keeper},
	})
	server := grpc.NewServer(grpc.StreamInterceptor(byNode))
	New(Config{Demands: s.demands, Push: pushed, Ratios: s.of.Ratios, Viewer: servertest.All}).Register(server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	s.address, s.published = listener.Addr().String(), s.demands.Watch()
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan struct{}, 2)
	go func() { _ = server.Serve(listener); ended <- struct{}{} }()
	go func() { s.demands.Run(ctx); ended <- struct{}{} }()
	s.stop = func() { cancel(); server.Stop(); <-ended; <-ended }
}

// byNode takes a header for the node of a caller: the tokens of node agents are bound to their node.
func byNode(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	caller := access.Caller{Name: "agent", Extra: map[string][]string{"authentication.kubernetes.io/node-name": md.Get("node")}}
	return handle(service, &callOf{stream, access.NewContext(stream.Context(), caller)})
}

// callOf is a stream with a context.
type callOf struct {
	grpc.ServerStream
	ctx context.Context
}

func (c *callOf) Context() context.Context { return c.ctx }

// counted counts writes.
type counted struct {
	corev1client.ConfigMapsGetter
	writes *atomic.Int64
}

func (c counted) ConfigMaps(namespace string) corev1client.ConfigMapInterface {
	return countedIn{c.ConfigMapsGetter.ConfigMaps(namespace), c.writes}
}

type countedIn struct {
	corev1client.ConfigMapInterface
	writes *atomic.Int64
}

func (c countedIn) Apply(ctx context.Context, cm *applycorev1.ConfigMapApplyConfiguration, options metav1.ApplyOptions) (*corev1.ConfigMap, error) {
	c.writes.Add(1)
	return c.ConfigMapInterface.Apply(ctx, cm, options)
}

func (c countedIn) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	c.writes.Add(1)
	return c.ConfigMapInterface.Delete(ctx, name, options)
}

// until waits for a condition.
func (s *scale) until(what string, met func() bool) {
	s.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("no %s: %+v, %+v", what, s.demands.Sources(), s.keeper.Status().Err)
		}
	}
}

// collect lets all containers be measured once, over a time that ends then.
func (s *scale) collect(source string, took time.Duration) {
	s.Helper()
	before := s.demands.Sources()[0].Counted
	for beat := range beats {
		at := s.clock.Now().Add(took / time.Duration(beats))
		switch {
		case source == "push":
			s.others.ask("/push", at, "to", s.address, "part", fmt.Sprint(beat))
		case beat == beats-1:
			s.others.ask("/measure", at)
		}
		s.clock.Step(took / time.Duration(beats))
		time.Sleep(5 * time.Millisecond) // The keeper looks at the clock.
	}
	s.until("samples", func() bool {
		s.clock.Step(time.Millisecond) // A read that ran when its time came is not repeated otherwise.
		return s.demands.Sources()[0].Counted-before >= 2*s.pods
	})
}

// publish waits for the next publication, and returns how long it took.
func (s *scale) publish() time.Duration {
	s.Helper()
	for len(s.published) > 0 {
		<-s.published
	}
	begin := time.Now()
	s.clock.Step(time.Minute)
	<-s.published
	return time.Since(begin)
}

// BenchmarkScale measures what usage costs a server in a large cluster: 150,000 containers of 10,000
// workloads on four types of nodes, with one sample a minute.
func BenchmarkScale(b *testing.B) {
	for _, source := range []string{"push", "metrics"} {
		for _, pods := range []int{1_005, 15_000, 150_000} {
			b.Run(fmt.Sprintf("%s/%d", source, pods), func(b *testing.B) { measureScale(b, source, pods) })
		}
	}
}

func measureScale(b *testing.B, source string, pods int) {
	servertest.Quiet()
	s := &scale{B: b, pods: pods, keeping: localcluster.NamespaceForTest(b), others: startOthers(b, pods), clock: testingclock.NewFakeClock(time.Now().Add(-past - time.Hour))}
	s.of = scaleCluster(b, pods)
	before := podtest.HeapInUse()
	s.others.ask("/measure", s.clock.Now())
	s.start(source)
	s.until("leader", func() bool { s.clock.Step(time.Second); return s.demands.Collects() })
	for range past / pastStep {
		s.collect(source, pastStep)
	}
	for range 11 {
		s.collect(source, time.Minute)
	}
	after, writes := podtest.HeapInUse(), s.writes.Load()
	peak := watchHeap()
	cpu := podtest.CPUTime(b)
	minutes := 0
	for b.Loop() {
		s.collect(source, time.Minute)
		minutes++
	}
	cpu = podtest.CPUTime(b) - cpu
	writes = s.writes.Load() - writes
	highest := peak()
	publishing := s.publish()
	bytes := 0
	for _, shard := range s.keeper.Status().Shards {
		bytes += shard.Bytes
	}
	known := s.demands.Table().Len()
	s.stop()
	s.start(source)
	begin := time.Now()
	warm := time.Duration(0)
	s.until("history after a restart", func() bool {
		s.clock.Step(time.Since(begin) - warm) // No faster than time passes.
		warm = time.Since(begin)
		return s.demands.Table().Len() == known
	})
	s.stop()

	const mebibyte = 1 << 20
	for _, m := range []struct {
		value, most float64
		unit        string
	}{
		{cpu.Seconds() / float64(minutes) / 60, 0.2, "cores"},
		{cpu.Seconds() / float64(minutes) / float64(pods) * 1e6, 0, "us/container"},
		{(after - before) / mebibyte, 250, "MiB-steady"},
		{(highest - before) / mebibyte, 600, "MiB-peak"},
		{before / mebibyte, 0, "MiB-pods"},
		{publishing.Seconds(), 2, "s/recommendations"},
		{float64(bytes) / 1e6, 8, "MB-checkpoint"},
		{float64(writes) / float64(minutes) * 10, 64, "writes/10min"},
		{warm.Seconds(), 5, "s/restart"},
	} {
		b.ReportMetric(m.value, m.unit)
		if m.most > 0 && m.value > m.most {
			b.Errorf("%.3g %s, at most %v are the target", m.value, m.unit, m.most)
		}
	}
	if want := (pods + scaleReplicas - 1) / scaleReplicas; known != want {
		b.Errorf("%d recommendations, want %d", known, want)
	}
	b.ReportMetric(float64(s.others.size())/mebibyte, "MiB-list")
}

// watchHeap returns a function that returns the highest use of the heap since this call, with garbage.
func watchHeap() func() float64 {
	done, highest := make(chan struct{}), make(chan float64)
	go func() {
		most, sample := 0.0, []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		for {
			metrics.Read(sample)
			most = max(most, float64(sample[0].Value.Uint64()))
			select {
			case <-done:
				highest <- most
				return
			case <-ticker.C:
			}
		}
	}()
	return func() float64 { close(done); return <-highest }
}

// scaleNodes is how many nodes have this many pods.
func scaleNodes(pods int) int { return max(4, pods/100) }

func scaleNode(i int) string { return fmt.Sprint("node-", i) }

func scalePod(i int) string { return fmt.Sprintf("checkout-66fb46dc94-%05x", i) }

func scaleNamespace(pod int) string {
	if workload := pod / scaleReplicas; workload%5 > 0 {
		return fmt.Sprint("team-", workload%400)
	}
	return "team-0"
}

// scaleUID is the UID that clustertest.Named gives the pod.
func scaleUID(i int) string { return strings.Join([]string{scaleNamespace(i), scalePod(i)}, "/") }
