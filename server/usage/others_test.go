package usage

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// othersVariable makes a process of this test the programs that measure usage. Its value is the number
// of pods.
const othersVariable = "WORKLOAD_RESIZER_TEST_MEASURES"

func TestMain(m *testing.M) {
	if pods := os.Getenv(othersVariable); pods != "" {
		n, err := strconv.Atoi(pods)
		if err == nil {
			err = serveOthers(n)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// others is a process that serves metrics.k8s.io and has the node agents.
type others struct {
	testing.TB
	address string
}

// startOthers starts the process.
func startOthers(b *testing.B, pods int) *others {
	b.Helper()
	command := exec.Command(os.Args[0])
	command.Env, command.Stderr = append(os.Environ(), fmt.Sprintf("%s=%d", othersVariable, pods)), os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return &others{b, strings.TrimSpace(address)}
}

// ask lets the process do something, at the time of the test's clock.
func (o *others) ask(path string, at time.Time, parameters ...string) string {
	o.Helper()
	values := url.Values{"at": {at.Format(time.RFC3339Nano)}}
	for i := 0; i < len(parameters); i += 2 {
		values.Set(parameters[i], parameters[i+1])
	}
	response, err := http.PostForm(o.address+path, values)
	if err != nil {
		o.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := bufio.NewReader(response.Body).ReadString('\n')
	if response.StatusCode != http.StatusOK {
		o.Fatalf("%s: %s %v", path, text, err)
	}
	return text
}

// size returns the size of all lists of metrics.k8s.io.
func (o *others) size() int {
	n, _ := strconv.Atoi(strings.TrimSpace(o.ask("/measure", time.Now())))
	return n
}

// measures has the measurements.
type measures struct {
	pods int

	mu    sync.Mutex
	lists map[string][]byte
	// agents are the connections of the node agents, by the address of the server.
	agents map[string][]*grpc.ClientConn
}

// serveOthers prints its address and serves until it is killed.
func serveOthers(pods int) error {
	m := &measures{pods: pods, lists: map[string][]byte{}, agents: map[string][]*grpc.ClientConn{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	handle := func(do func(*http.Request, time.Time) (int, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			at, err := time.Parse(time.RFC3339Nano, r.FormValue("at"))
			n := 0
			if err == nil {
				n, err = do(r, at)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintln(w, n)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods", m.list)
	mux.HandleFunc("POST /measure", handle(func(_ *http.Request, at time.Time) (int, error) { return m.measure(at) }))
	mux.HandleFunc("POST /push", handle(m.push))
	return http.Serve(listener, mux) //nolint:gosec // The only client is the benchmark.
}

// usedAt returns what a pod used: about the same each hour, with noise and rare peaks.
func usedAt(pod int, at time.Time) (cores float64, bytes int64) {
	habit := rand.New(rand.NewPCG(1, uint64(pod/scaleReplicas)))
	now := rand.New(rand.NewPCG(uint64(pod), uint64(at.Unix())))
	load := 1 + habit.Float64()*math.Sin(float64(at.Unix()%86400)/86400*2*math.Pi)
	cores = 0.02 * math.Exp(4.5*habit.Float64()) * load * math.Exp(0.3*now.NormFloat64())
	if now.Float64() < 0.0005 {
		cores *= 4
	}
	return cores, int64(5e7*math.Exp(4*habit.Float64())*(0.6+0.4*load)*math.Exp(0.1*now.NormFloat64())) &^ 4095
}

// measure lets metrics.k8s.io measure all pods, and returns the size of all lists.
func (m *measures) measure(at time.Time) (size int, err error) {
	scheme := runtime.NewScheme()
	if err := metrics.AddToScheme(scheme); err != nil {
		return 0, err
	}
	lists := map[string]*metrics.PodMetricsList{}
	for i := range m.pods {
		cores, bytes := usedAt(i, at)
		list := lists[scaleNamespace(i)]
		if list == nil {
			list = &metrics.PodMetricsList{TypeMeta: metav1.TypeMeta{Kind: "PodMetricsList", APIVersion: "metrics.k8s.io/v1beta1"}}
			lists[scaleNamespace(i)] = list
		}
		list.Items = append(list.Items, metrics.PodMetrics{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: scaleNamespace(i), Name: scalePod(i), CreationTimestamp: metav1.NewTime(at),
				Labels: map[string]string{"app.kubernetes.io/name": "checkout", "app.kubernetes.io/instance": "checkout", "pod-template-hash": "66fb46dc94", "topology.kubernetes.io/zone": "us-central1-a"},
			},
			Timestamp: metav1.NewTime(at), Window: metav1.Duration{Duration: 15 * time.Second},
			Containers: []metrics.ContainerMetrics{{Name: "app", Usage: corev1.ResourceList{
				corev1.ResourceCPU:    *resource.NewScaledQuantity(int64(cores*1e9), resource.Nano),
				corev1.ResourceMemory: *resource.NewQuantity(bytes, resource.BinarySI),
			}}},
		})
	}
	serializer := protobuf.NewSerializer(scheme, scheme)
	m.mu.Lock()
	defer m.mu.Unlock()
	for namespace, list := range lists {
		content, err := runtime.Encode(serializer, list)
		if err != nil {
			return 0, err
		}
		m.lists[namespace] = content
		size += len(content)
	}
	return size, nil
}

// list serves what metrics.k8s.io has measured in a namespace.
func (m *measures) list(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	content := m.lists[r.PathValue("namespace")]
	m.mu.Unlock()
	w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
	_, _ = w.Write(content)
}

// push lets the agents report whose minute has ended: those of one part of the nodes.
func (m *measures) push(r *http.Request, at time.Time) (int, error) {
	part, err := strconv.Atoi(r.FormValue("part"))
	if err != nil {
		return 0, err
	}
	nodes, to := scaleNodes(m.pods), r.FormValue("to")
	agents := m.agents[to]
	for range nodes - len(agents) {
		conn, err := grpc.NewClient(to, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return 0, err
		}
		agents = append(agents, conn)
	}
	m.agents[to] = agents
	var group errgroup.Group
	group.SetLimit(16)
	for node := part; node < nodes; node += beats {
		group.Go(func() error { return m.report(r.Context(), agents[node], node, nodes, at) })
	}
	return 0, group.Wait()
}

// report reports the usage of the containers on a node.
func (m *measures) report(ctx context.Context, conn *grpc.ClientConn, node, nodes int, at time.Time) error {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "node", scaleNode(node)), time.Minute)
	defer cancel()
	stream, err := workloadresizerv1.NewUsageServiceClient(conn).ReportUsage(ctx)
	if err != nil {
		return err
	}
	request := &workloadresizerv1.ReportUsageRequest{}
	for i := node; i < m.pods; i += nodes {
		cores, bytes := usedAt(i, at)
		request.Usages = append(request.Usages, &workloadresizerv1.ContainerUsage{
			PodUid: scaleUID(i), Container: "app", EndTime: timestamppb.New(at), MeasureDuration: durationpb.New(time.Minute),
			CpuCores: &cores, MemoryPeakBytes: &bytes, Throttled: new(0.0), CpuPressure: new(0.01), MemoryPressure: new(0.0), MemoryLimitEvents: new(int64(0)), MemoryChargedBytes: &bytes,
		})
	}
	if err := stream.Send(request); err != nil {
		return err
	}
	response, err := stream.CloseAndRecv()
	if err == nil && response.GetRejected() > 0 {
		err = fmt.Errorf("rejected: %v", response.GetErrors()[0])
	}
	return err
}
