package node

import (
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euank/go-kmsg-parser/kmsgparser"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	kubelettypes "k8s.io/kubelet/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// worker is a machine with one container that works.
type worker struct {
	*machine
	t  *testing.T
	id string
}

// newWorker starts a container of testPod that does the declared work.
func newWorker(t *testing.T, m *machine, declaration string, resources *runtimeapi.LinuxContainerResources) *worker {
	t.Helper()
	service := runtime{machine: m}
	declared := testPod.DeepCopy()
	declared.Annotations = map[string]string{"work.testcluster.local/main": declaration}
	if err := (podCgroups{m}).EnsureExists(klog.Background(), declared); err != nil {
		t.Fatal(err)
	}
	pod := map[string]string{
		kubelettypes.KubernetesPodUIDLabel:       "uid",
		kubelettypes.KubernetesPodNamespaceLabel: "shop",
		kubelettypes.KubernetesPodNameLabel:      "web",
	}
	container := maps.Clone(pod)
	container[kubelettypes.KubernetesContainerNameLabel] = "main"
	sandboxConfig := &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Uid: "uid", Namespace: "shop", Name: "web"},
		Labels:   pod,
	}
	sandbox, err := service.RunPodSandbox(t.Context(), sandboxConfig, "")
	if err != nil {
		t.Fatal(err)
	}
	id, err := service.CreateContainer(t.Context(), sandbox, &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "main"},
		Labels:   container,
		Linux:    &runtimeapi.LinuxContainerConfig{Resources: resources},
	}, sandboxConfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := service.StartContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	return &worker{machine: m, t: t, id: id}
}

// seconds lets the machine tick, and returns the pods whose readiness changed.
func (w *worker) seconds(count int) (changed []types.NamespacedName) {
	for range count {
		changed = append(changed, w.tick(w.ticked.Add(time.Second))...)
	}
	return changed
}

func (w *worker) status() *runtimeapi.ContainerStatus {
	w.t.Helper()
	response, err := (runtime{machine: w.machine}).ContainerStatus(w.t.Context(), w.id, false)
	if err != nil {
		w.t.Fatal(err)
	}
	return response.Status
}

// usage returns the CPU time that the container has used.
func (w *worker) usage() time.Duration {
	w.t.Helper()
	stats, err := (runtime{machine: w.machine}).ListContainerStats(w.t.Context(), &runtimeapi.ContainerStatsFilter{Id: w.id})
	if err != nil || len(stats) != 1 {
		w.t.Fatalf("got %v, %v", stats, err)
	}
	return time.Duration(stats[0].Cpu.UsageCoreNanoSeconds.Value).Round(time.Millisecond)
}

func TestTick(t *testing.T) {
	t.Run("a container uses fewer cores on a faster node", aContainerUsesFewerCoresOnAFasterNode)
	t.Run("a resize counts from the next tick", aResizeCountsFromTheNextTick)
	t.Run("a container above its memory limit is killed", aContainerAboveItsMemoryLimitIsKilled)
	t.Run("a node without memory logs it", aNodeWithoutMemoryLogsIt)
	t.Run("a job ends its container", aJobEndsItsContainer)
	t.Run("a pod whose readiness changes is reported once", aPodWhoseReadinessChangesIsReportedOnce)
	t.Run("a scaled clock makes work faster, not usage", aScaledClockMakesWorkFaster)
	t.Run("a week of work takes five minutes", aWeekOfWorkTakesFiveMinutes)
	t.Run("a restored machine continues its work", aRestoredMachineContinuesItsWork)
	t.Run("a container without declared work fits its limit", aContainerWithoutDeclaredWorkFitsItsLimit)
	t.Run("a container with invalid work is not created", aContainerWithInvalidWorkIsNotCreated)
}

func aContainerUsesFewerCoresOnAFasterNode(t *testing.T) {
	m := newMachine(newTestCluster(), state.Node{Name: "node-0", Speed: 1.25})
	w := newWorker(t, m, "cpu: 500m", nil)
	w.seconds(10)
	if got := w.usage(); got != 4*time.Second {
		t.Errorf("used %v", got)
	}
}

func aResizeCountsFromTheNextTick(t *testing.T) {
	w := newWorker(t, newTestMachine(), `cpu: "1"`, &runtimeapi.LinuxContainerResources{CpuQuota: 50_000, CpuPeriod: 100_000})
	w.seconds(2)
	if got := w.usage(); got != time.Second {
		t.Errorf("used %v with half a core", got)
	}
	resources := &runtimeapi.ContainerResources{Linux: &runtimeapi.LinuxContainerResources{CpuQuota: 200_000}}
	if err := (runtime{machine: w.machine}).UpdateContainerResources(t.Context(), w.id, resources); err != nil {
		t.Fatal(err)
	}
	w.seconds(2)
	if got := w.usage(); got != 3*time.Second {
		t.Errorf("used %v after the resize", got)
	}
}

func aContainerAboveItsMemoryLimitIsKilled(t *testing.T) {
	w := newWorker(t, newTestMachine(), "memory: [{leak: 1Mi, every: 1s}]", &runtimeapi.LinuxContainerResources{MemoryLimitInBytes: 10 << 20})
	w.seconds(9)
	if got := w.status(); got.State != runtimeapi.ContainerState_CONTAINER_RUNNING {
		t.Fatalf("the container is %v", got.State)
	}
	w.seconds(2)
	if got := w.status(); got.State != runtimeapi.ContainerState_CONTAINER_EXITED || got.ExitCode != 137 || got.Reason != "OOMKilled" {
		t.Errorf("the container is %v, exit code %d, %s", got.State, got.ExitCode, got.Reason)
	}
}

func aNodeWithoutMemoryLogsIt(t *testing.T) {
	parser, err := kmsgparser.NewParser()
	if err != nil {
		t.Fatal(err)
	}
	entries := parser.Parse()
	newWorker(t, newTestMachine(), "memory: 2Gi", nil).seconds(1)
	for _, want := range []string{"main invoked oom-killer:", "Killed process 1 (main)"} {
		select {
		case got := <-entries:
			if !strings.Contains(got.Message, want) {
				t.Errorf("got %q, want %q", got.Message, want)
			}
		default:
			t.Fatalf("no entry %q", want)
		}
	}
}

func aJobEndsItsContainer(t *testing.T) {
	w := newWorker(t, newTestMachine(), "{cpu: [], job: {coreSeconds: 3, exitCode: 4}}", nil)
	w.seconds(2)
	if got := w.status().State; got != runtimeapi.ContainerState_CONTAINER_RUNNING {
		t.Fatalf("the container is %v", got)
	}
	w.seconds(1)
	if got := w.status(); got.ExitCode != 4 || got.Reason != "Error" {
		t.Errorf("exit code %d, %s", got.ExitCode, got.Reason)
	}
}

func aPodWhoseReadinessChangesIsReportedOnce(t *testing.T) {
	w := newWorker(t, newTestMachine(), "startup: {coreSeconds: 3}", nil)
	if w.containers[w.id].ready {
		t.Error("the container is ready before its startup")
	}
	if changed := w.seconds(2); changed != nil {
		t.Errorf("%v changed during the startup", changed)
	}
	if changed := w.seconds(5); len(changed) != 1 || changed[0].String() != "shop/web" || !w.containers[w.id].ready {
		t.Errorf("%v changed after the startup", changed)
	}
}

func aScaledClockMakesWorkFaster(t *testing.T) {
	cluster := newTestCluster()
	cluster.Clock.Scale = 60
	w := newWorker(t, newMachine(cluster, state.Node{}), "{cpu: 500m, startup: {coreSeconds: 120, cores: 2}}", nil)
	w.seconds(3)
	if got := w.usage(); got != 3*time.Second || !w.containers[w.id].ready {
		t.Errorf("used %v, ready: %t; want 2 s for the startup, and half a second a second", got, w.containers[w.id].ready)
	}
}

func aWeekOfWorkTakesFiveMinutes(t *testing.T) {
	cluster := newTestCluster()
	cluster.Clock.Shows = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC) // a Monday
	cluster.Clock.Scale = 7 * 24 * 12
	w := newWorker(t, newMachine(cluster, state.Node{}), `cpu: [{weekly: "1", days: [Mon, Tue, Wed, Thu, Fri], from: 9h, to: 17h}]`, nil)
	const day = 300 / 7.0
	for weekday := range 7 {
		before := w.usage()
		w.seconds(int(float64(weekday+1)*day) - int(float64(weekday)*day))
		used := (w.usage() - before).Seconds()
		// The mean of half a sine, for 8 of 24 hours, on workdays.
		want := day * 8 / 24 * 2 / math.Pi
		if weekday >= 5 {
			want = 0
		}
		if math.Abs(used-want) > 0.1 {
			t.Errorf("day %d used %g s, want %g", weekday+1, used, want)
		}
	}
}

func aRestoredMachineContinuesItsWork(t *testing.T) {
	w := newWorker(t, newTestMachine(), "{cpu: 500m, startup: {coreSeconds: 3}}", nil)
	w.seconds(2)
	file := filepath.Join(t.TempDir(), "machine.json")
	if err := w.save(file); err != nil {
		t.Fatal(err)
	}
	w.machine = newTestMachine()
	if err := w.restore(file); err != nil {
		t.Fatal(err)
	}
	w.seconds(3)
	if got := w.usage(); got != 4*time.Second {
		t.Errorf("used %v, want 3 s for the startup and 1 s after it", got)
	}
	if got := w.kernel.Pods.Usage.Round(time.Millisecond); got != 4*time.Second {
		t.Errorf("all pods used %v", got)
	}
}

func aContainerWithoutDeclaredWorkFitsItsLimit(t *testing.T) {
	m := newTestMachine()
	w := &worker{machine: m, t: t, id: runContainer(t, m, &runtimeapi.LinuxContainerResources{MemoryLimitInBytes: 1 << 20})}
	w.seconds(3)
	if got := w.status().State; got != runtimeapi.ContainerState_CONTAINER_RUNNING {
		t.Errorf("the container is %v", got)
	}
	if got := w.usage(); got != 3*time.Millisecond {
		t.Errorf("used %v", got)
	}
}

func aContainerWithInvalidWorkIsNotCreated(t *testing.T) {
	m := newTestMachine()
	invalid := testPod.DeepCopy()
	invalid.Annotations = map[string]string{"work.testcluster.local/main": "cpu: much"}
	if err := (podCgroups{m}).EnsureExists(klog.Background(), invalid); err != nil {
		t.Fatal(err)
	}
	sandboxConfig := &runtimeapi.PodSandboxConfig{
		Metadata: &runtimeapi.PodSandboxMetadata{Uid: "uid", Namespace: "shop", Name: "web"},
	}
	sandbox, err := (runtime{machine: m}).RunPodSandbox(t.Context(), sandboxConfig, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = (runtime{machine: m}).CreateContainer(t.Context(), sandbox, &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "main"},
		Labels:   map[string]string{kubelettypes.KubernetesPodUIDLabel: "uid"},
	}, sandboxConfig)
	if err == nil || !strings.Contains(err.Error(), `annotation work.testcluster.local/main: `) {
		t.Errorf("got %v", err)
	}
}
