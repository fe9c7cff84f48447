package applied

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/steppedworld"
)

// world is a cluster with two servers, whose clock a test moves.
type world struct {
	*localcluster.Cluster
	*steppedworld.Servers
	name       string
	seen       *steppedworld.Observer
	kubeconfig string
	workloads  []weekly
	each       int
	seats      map[types.UID]seat
	// highest has the highest usage of memory of the containers of each workload, for each of the last days.
	highest map[string][]int64
	// known and unknown are how often memory was above its limit although it was as high in the seven days before, and
	// where it was not.
	known, unknown int
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
	w.seen = steppedworld.Observe(t, kubernetes.NewForConfigOrDie(w.Config()), "app")
	for i := range workloads {
		w.apply(t, workloads[i].manifest(each))
	}
	w.seen.Await(t, "all pods to run", (*steppedworld.Course).Runs, w.pods())
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
	all := w.seen.All()
	slices.SortFunc(all, func(a, b steppedworld.Course) int { return strings.Compare(a.Pod.Name, b.Pod.Name) })
	w.seats = map[uid]seat{}
	next := map[seat]int{}
	for _, c := range all {
		s := seat{workload: c.Pod.Labels["app"], nodeType: types[c.Pod.Spec.NodeName]}
		w.seats[c.Pod.UID] = seat{s.workload, s.nodeType, next[s]}
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
	w.Servers = steppedworld.Start(t, w.name, w.kubeconfig, at)
}

// measure adds what all containers have used in the time before now to what is reported, unless the source is away.
func (w *world) measure(length time.Duration, away bool) {
	day := int(w.At.Sub(w.Began) / (24 * time.Hour))
	for _, c := range w.seen.All() {
		s := w.seats[c.Pod.UID]
		of := w.named(s.workload)
		for i := range c.Pod.Spec.Containers {
			name := c.Pod.Spec.Containers[i].Name
			u, limits := of.uses(s, name, w.At.Sub(w.Began)), c.Limits(name)
			report := &workloadresizerv1.ContainerUsage{
				PodUid: string(c.Pod.UID), Container: name, EndTime: timestamppb.New(w.At), MeasureDuration: durationpb.New(length),
				CpuCores: &u.cores, MemoryPeakBytes: &u.memory, Throttled: new(float64), MemoryLimitEvents: new(int64), MemoryChargedBytes: &u.memory,
			}
			if most := limits.Cpu().AsApproximateFloat64(); most > 0 && u.cores > most {
				*report.Throttled = 1 - most/u.cores
				u.cores = most
			}
			if most := limits.Memory().Value(); most > 0 && u.memory > most {
				if u.memory <= w.highestBefore(s.workload+"/"+name, day) {
					w.known++
					w.Fault("pod %v: container %s uses %d of %d bytes", s, name, u.memory, most)
				} else {
					w.unknown++
				}
				*report.MemoryLimitEvents = 1
				u.memory = most
			} else {
				w.note(s.workload+"/"+name, day, u.memory)
			}
			if !away {
				w.Pend(report)
			}
		}
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

// report sends what is pending, a stream for each node: there is one per type.
func (w *world) report(t *testing.T) {
	t.Helper()
	w.Report(t, func(podUID string) string { return w.seats[uid(podUID)].nodeType })
}

// settle waits until nodes have completed what the servers asked for.
func (w *world) settle(t *testing.T) {
	t.Helper()
	if !w.seen.Settled() {
		w.Fault("resizes did not come to an end")
	}
}

// sizes returns the requests and limits of all containers, as text.
func (w *world) sizes(t *testing.T) map[seat]string {
	t.Helper()
	found := map[seat]string{}
	for _, c := range w.seen.All() {
		var all []corev1.ResourceRequirements
		for i := range c.Pod.Spec.Containers {
			all = append(all, c.Pod.Spec.Containers[i].Resources)
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		found[w.seats[c.Pod.UID]] = string(text)
	}
	return found
}
