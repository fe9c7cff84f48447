package applied

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/steppedclock"
)

// program is the server whose clock can be moved.
const program = "workload-resizer-stepped"

// world is a cluster with two servers, whose clock a test moves.
type world struct {
	*localcluster.Cluster
	name       string
	seen       *observer
	kubeconfig string
	replicas   []*replica
	workloads  []weekly
	each       int
	seats      map[types.UID]seat
	// began is when time began, and at is what time it is.
	began, at time.Time
	// pending are usages that no server has taken yet, the oldest first.
	pending []*workloadresizerv1.ContainerUsage
	// highest has the highest usage of memory of the containers of each workload, for each of the last days.
	highest map[string][]int64
	tally   tally
}

// tally counts what happened.
type tally struct {
	kills, reports, rejected, dropped int
	// known and unknown are how often memory was above its limit although it was as high in the seven days before, and
	// where it was not.
	known, unknown int
	// takeover is the longest time until another server collected after a kill.
	takeover time.Duration
	faults   []string
}

// replica is a process of the server.
type replica struct {
	server *localcluster.Server
	api    *client.Client
	clock  *steppedclock.Clock
}

// newWorld starts a cluster with the workloads and two servers that only observe usage.
func newWorld(t *testing.T, name string, workloads []weekly, each int) *world {
	t.Helper()
	var nodes []string
	for nodeType, speed := range nodeTypes {
		nodes = append(nodes, fmt.Sprintf("%s=1:speed=%v", nodeType, speed))
	}
	slices.Sort(nodes)
	w := &world{name: name, workloads: workloads, each: each, highest: map[string][]int64{}}
	w.Cluster = localcluster.ForTestWith(t, localcluster.Options{Nodes: strings.Join(nodes, ","), NodeCPU: 512, NodeMemory: "1Ti"})
	if err := localcluster.Apply(t.Context(), w.Config(), deploy.Base()...); err != nil {
		t.Fatal(err)
	}
	w.apply(t, weeklyConfig("observe"))
	w.seen = observe(t, kubernetes.NewForConfigOrDie(w.Config()))
	for i := range workloads {
		w.apply(t, workloads[i].manifest(each))
	}
	w.seen.await(t, "all pods to run", func(c *course) error { return c.runs() }, w.pods())
	w.seat(t)
	var err error
	if w.kubeconfig, err = localcluster.ServiceAccountKubeconfig(t.Context(), w.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return w
}

// pods is the number of pods.
func (w *world) pods() int { return len(w.workloads) * w.each * len(nodeTypes) }

func (w *world) apply(t *testing.T, manifest string) {
	t.Helper()
	localcluster.Eventually(t, "the manifest to be applied", func() error {
		return localcluster.Apply(t.Context(), w.Config(), []byte(manifest))
	})
}

// seat gives each pod a place, in the order of names.
func (w *world) seat(t *testing.T) {
	t.Helper()
	types := w.nodeTypes(t)
	all := w.seen.all()
	slices.SortFunc(all, func(a, b course) int { return strings.Compare(a.pod.Name, b.pod.Name) })
	w.seats = map[uid]seat{}
	next := map[seat]int{}
	for _, c := range all {
		s := seat{workload: c.pod.Labels["app"], nodeType: types[c.pod.Spec.NodeName]}
		w.seats[c.pod.UID] = seat{s.workload, s.nodeType, next[s]}
		next[s]++
	}
	for s, n := range next {
		if n != w.each {
			t.Fatalf("%d pods of %s are on %s", n, s.workload, s.nodeType)
		}
	}
}

type uid = types.UID

// nodeTypes returns the types of the nodes.
func (w *world) nodeTypes(t *testing.T) map[string]string {
	t.Helper()
	list, err := kubernetes.NewForConfigOrDie(w.Config()).CoreV1().Nodes().List(t.Context(), listAll)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for i := range list.Items {
		found[list.Items[i].Name] = list.Items[i].Labels[nodeTypeLabel]
	}
	return found
}

// begin starts the servers at a time.
func (w *world) begin(t *testing.T, at time.Time) {
	t.Helper()
	w.began, w.at = at, at
	for range 2 {
		r, err := w.start(t)
		if err != nil {
			t.Fatal(err)
		}
		w.replicas = append(w.replicas, r)
	}
	t.Cleanup(func() {
		for _, r := range w.replicas {
			_ = r.api.Close()
			if err := r.server.Stop(); err != nil {
				t.Errorf("%s: %v", w.name, err)
			}
			if t.Failed() {
				t.Logf("%s: the end of a server's log:\n%s", w.name, localcluster.Tail(r.server.Log(), 20))
			}
		}
	})
}

// start starts a server.
func (w *world) start(t *testing.T) (*replica, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clock")
	clock, err := steppedclock.Create(path, w.at)
	if err != nil {
		return nil, err
	}
	server, err := localcluster.StartServer(context.Background(), localcluster.ServerOptions{
		Program: program, Kubeconfig: w.kubeconfig, Args: []string{"--usage-sources=push", "--leader-lease-duration=10s"},
		Env: []string{steppedclock.Variable + "=" + path},
	})
	if err != nil {
		return nil, err
	}
	api, err := client.Dial(server.GRPCAddress)
	if err != nil {
		return nil, errors.Join(err, server.Kill())
	}
	return &replica{server, api, clock}, nil
}

// move moves the clock of all servers, and waits until they have followed.
func (w *world) move(t *testing.T, to time.Time) {
	t.Helper()
	w.at = to
	for _, r := range w.replicas {
		if err := r.clock.Move(to); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(localcluster.Patience); ; time.Sleep(2 * time.Millisecond) {
		behind := slices.ContainsFunc(w.replicas, func(r *replica) bool {
			at, err := r.clock.Reached()
			return err != nil || at.Before(to)
		})
		if !behind {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: the servers do not follow the clock", w.name)
		}
	}
}

// collector returns the server that collects usage; nil if none does.
func (w *world) collector(ctx context.Context) *replica {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, r := range w.replicas {
		if status, err := r.api.GetUsageStatus(ctx); err == nil && status.GetCollecting() {
			return r
		}
	}
	return nil
}

// awaitCollector lets time pass slowly until a server collects.
func (w *world) awaitCollector(t *testing.T, until time.Time) *replica {
	t.Helper()
	for deadline := time.Now().Add(localcluster.Patience); ; {
		if r := w.collector(t.Context()); r != nil {
			return r
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: no server collects usage", w.name)
		}
		time.Sleep(100 * time.Millisecond)
		if next := w.at.Add(time.Second); next.Before(until) {
			w.move(t, next)
		}
	}
}

// killLeader kills the server that collects, without a warning, and starts another one when the time is over.
func (w *world) killLeader(t *testing.T, until time.Time) {
	t.Helper()
	leader := w.awaitCollector(t, until)
	killed := w.at
	w.tally.kills++
	i := slices.Index(w.replicas, leader)
	_ = leader.api.Close()
	if err := leader.server.Kill(); err != nil {
		t.Fatal(err)
	}
	w.replicas = slices.Delete(w.replicas, i, i+1)
	w.awaitCollector(t, until)
	w.tally.takeover = max(w.tally.takeover, w.at.Sub(killed))
	fresh, err := w.start(t)
	if err != nil {
		t.Fatal(err)
	}
	w.replicas = append(w.replicas, fresh)
}

// measure adds what all containers have used in the time before now to what is reported, unless the source is away.
func (w *world) measure(length time.Duration, away bool) {
	day := int(w.at.Sub(w.began) / (24 * time.Hour))
	for _, c := range w.seen.all() {
		s := w.seats[c.pod.UID]
		of := w.named(s.workload)
		for i := range c.pod.Spec.Containers {
			name := c.pod.Spec.Containers[i].Name
			u, limits := of.uses(s, name, w.at.Sub(w.began)), limitsOf(c.pod, name)
			report := &workloadresizerv1.ContainerUsage{
				PodUid: string(c.pod.UID), Container: name, EndTime: timestamppb.New(w.at), MeasureDuration: durationpb.New(length),
				CpuCores: &u.cores, MemoryPeakBytes: &u.memory, Throttled: new(float64), MemoryLimitEvents: new(int64), MemoryChargedBytes: &u.memory,
			}
			if most := limits.Cpu().AsApproximateFloat64(); most > 0 && u.cores > most {
				*report.Throttled = 1 - most/u.cores
				u.cores = most
			}
			if most := limits.Memory().Value(); most > 0 && u.memory > most {
				if u.memory <= w.highestBefore(s.workload+"/"+name, day) {
					w.tally.known++
					w.fault("pod %v: container %s uses %d of %d bytes", s, name, u.memory, most)
				} else {
					w.tally.unknown++
				}
				*report.MemoryLimitEvents = 1
				u.memory = most
			} else {
				w.note(s.workload+"/"+name, day, u.memory)
			}
			if !away {
				w.pending = append(w.pending, report)
			}
		}
	}
}

func (w *world) fault(format string, args ...any) {
	if len(w.tally.faults) < 20 {
		w.tally.faults = append(w.tally.faults, fmt.Sprintf("%s, day %.2f: ", w.name, w.at.Sub(w.began).Hours()/24)+fmt.Sprintf(format, args...))
	}
}

// note notes how much memory the container of a workload uses on a day.
func (w *world) note(container string, day int, memory int64) {
	for len(w.highest[container]) <= day {
		w.highest[container] = append(w.highest[container], 0)
	}
	w.highest[container][day] = max(w.highest[container][day], memory)
}

// highestBefore returns the highest usage in the seven days before a day, and on it.
func (w *world) highestBefore(container string, day int) int64 {
	days := w.highest[container]
	return slices.Max(append(slices.Clone(days[max(0, min(len(days), day-6)):]), 0))
}

func (w *world) named(workload string) *weekly {
	return &w.workloads[slices.IndexFunc(w.workloads, func(of weekly) bool { return of.name == workload })]
}

// patientFor is for how long node agents send a usage again.
const patientFor = 10 * time.Minute

// report sends what is pending, a stream for each node.
func (w *world) report(t *testing.T) {
	t.Helper()
	old := slices.IndexFunc(w.pending, func(u *workloadresizerv1.ContainerUsage) bool { return w.at.Sub(u.GetEndTime().AsTime()) <= patientFor })
	if old < 0 {
		old = len(w.pending)
	}
	w.tally.dropped += old
	w.pending = w.pending[old:]
	if len(w.pending) == 0 {
		return
	}
	nodes := map[string][]*workloadresizerv1.ContainerUsage{}
	for _, u := range w.pending {
		of := w.seats[uid(u.GetPodUid())].nodeType
		nodes[of] = append(nodes[of], u)
	}
	for i, r := range w.replicas {
		if err := w.send(t.Context(), r, nodes); err == nil {
			w.pending = nil
			w.replicas[0], w.replicas[i] = w.replicas[i], w.replicas[0] // It is asked first from now on.
			return
		}
	}
}

func (w *world) send(ctx context.Context, r *replica, nodes map[string][]*workloadresizerv1.ContainerUsage) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for node, usages := range nodes {
		stream, err := r.api.Usage().ReportUsage(ctx)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(usages, 1000) {
			if err := stream.Send(&workloadresizerv1.ReportUsageRequest{Usages: part}); err != nil {
				break // CloseAndRecv says why.
			}
		}
		response, err := stream.CloseAndRecv()
		if err != nil {
			return err
		}
		w.tally.reports += int(response.GetAccepted())
		if response.GetRejected() > 0 {
			w.tally.rejected += int(response.GetRejected())
			w.fault("%d reports are rejected: %v", response.GetRejected(), response.GetErrors()[0])
		}
		delete(nodes, node)
	}
	return nil
}

// settle waits until nodes have completed what the servers asked for, for which they need a moment of real time.
func (w *world) settle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if w.seen.calm(60 * time.Millisecond) {
			return
		}
	}
	w.fault("resizes did not come to an end")
}

// sizes returns the requests and limits of all containers, as text.
func (w *world) sizes(t *testing.T) map[seat]string {
	t.Helper()
	found := map[seat]string{}
	for _, c := range w.seen.all() {
		var all []corev1.ResourceRequirements
		for i := range c.pod.Spec.Containers {
			all = append(all, c.pod.Spec.Containers[i].Resources)
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		found[w.seats[c.pod.UID]] = string(text)
	}
	return found
}
