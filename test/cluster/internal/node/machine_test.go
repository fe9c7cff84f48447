package node

import (
	"path/filepath"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	kubelettypes "k8s.io/kubelet/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/work"
)

var testPod = &v1.Pod{
	ObjectMeta: metav1.ObjectMeta{UID: "uid"},
	Spec: v1.PodSpec{Containers: []v1.Container{{Name: "main", Resources: v1.ResourceRequirements{
		Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse("1")},
	}}}},
}

func newTestMachine() *machine { return newMachine(newTestCluster(), state.Node{Name: "node-0"}) }

func newTestCluster() *state.Cluster {
	now := time.Now()
	return &state.Cluster{NodeCPU: 4, NodeMemory: 1 << 30, Clock: work.Clock{Wall: now, Shows: now}}
}

// runContainer starts a container of testPod and returns its ID.
func runContainer(t *testing.T, m *machine, resources *runtimeapi.LinuxContainerResources) string {
	t.Helper()
	ctx := t.Context()
	service := runtime{machine: m}
	if err := (podCgroups{m}).EnsureExists(klog.Background(), testPod); err != nil {
		t.Fatal(err)
	}
	sandboxConfig := &runtimeapi.PodSandboxConfig{Metadata: &runtimeapi.PodSandboxMetadata{Uid: "uid"}}
	sandbox, err := service.RunPodSandbox(ctx, sandboxConfig, "")
	if err != nil {
		t.Fatal(err)
	}
	id, err := service.CreateContainer(ctx, sandbox, &runtimeapi.ContainerConfig{
		Metadata: &runtimeapi.ContainerMetadata{Name: "main"},
		Labels:   map[string]string{kubelettypes.KubernetesPodUIDLabel: "uid"},
		Linux:    &runtimeapi.LinuxContainerConfig{Resources: resources},
	}, sandboxConfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := service.StartContainer(ctx, id); err != nil {
		t.Fatal(err)
	}
	return id
}

func actual(t *testing.T, m *machine, id string) *runtimeapi.LinuxContainerResources {
	t.Helper()
	status, err := (runtime{machine: m}).ContainerStatus(t.Context(), id, false)
	if err != nil {
		t.Fatal(err)
	}
	return status.Status.Resources.Linux
}

func TestMachine(t *testing.T) {
	t.Run("an update keeps the resources that it does not set", anUpdateKeepsTheResourcesThatItDoesNotSet)
	t.Run("ContainerStatus returns a copy", containerStatusReturnsACopy)
	t.Run("a machine is restored only once", aMachineIsRestoredOnlyOnce)
}

func anUpdateKeepsTheResourcesThatItDoesNotSet(t *testing.T) {
	m := newTestMachine()
	id := runContainer(t, m, &runtimeapi.LinuxContainerResources{CpuShares: 100, MemoryLimitInBytes: 1 << 20,
		HugepageLimits: []*runtimeapi.HugepageLimit{{PageSize: "2Mi", Limit: 1}}})
	update := &runtimeapi.ContainerResources{Linux: &runtimeapi.LinuxContainerResources{CpuShares: 200,
		HugepageLimits: []*runtimeapi.HugepageLimit{{PageSize: "2Mi", Limit: 2}}}}
	if err := (runtime{machine: m}).UpdateContainerResources(t.Context(), id, update); err != nil {
		t.Fatal(err)
	}
	got := actual(t, m, id)
	if got.CpuShares != 200 || got.MemoryLimitInBytes != 1<<20 || len(got.HugepageLimits) != 1 || got.HugepageLimits[0].Limit != 2 {
		t.Errorf("got %v", got)
	}
}

func containerStatusReturnsACopy(t *testing.T) {
	m := newTestMachine()
	id := runContainer(t, m, &runtimeapi.LinuxContainerResources{CpuShares: 100})
	actual(t, m, id).CpuShares = 1
	if got := actual(t, m, id).CpuShares; got != 100 {
		t.Errorf("got %d shares", got)
	}
}

func aMachineIsRestoredOnlyOnce(t *testing.T) {
	m := newTestMachine()
	id := runContainer(t, m, &runtimeapi.LinuxContainerResources{CpuShares: 100})
	file := filepath.Join(t.TempDir(), "machine.json")
	if err := m.save(file); err != nil {
		t.Fatal(err)
	}
	restored := newTestMachine()
	if err := restored.restore(file); err != nil {
		t.Fatal(err)
	}
	if got := actual(t, restored, id).CpuShares; got != 100 {
		t.Errorf("got %d shares", got)
	}
	config, err := podCgroups{restored}.GetPodCgroupConfig(testPod, v1.ResourceCPU)
	if err != nil || *config.CPUShares != 1024 || *config.CPUQuota != -1 {
		t.Errorf("got %+v, %v", config, err)
	}
	usage, err := podCgroups{restored}.GetPodCgroupMemoryUsage(testPod)
	if err != nil || usage != work.IdleBytes {
		t.Errorf("got usage %d, %v", usage, err)
	}
	again := newTestMachine()
	if err := again.restore(file); err != nil {
		t.Fatal(err)
	}
	if len(again.containers) != 0 {
		t.Errorf("the same file restored the machine twice")
	}
}
