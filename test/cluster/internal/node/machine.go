package node

import (
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	kubelettypes "k8s.io/kubelet/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/cm"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/kernel"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/work"
)

// diskSize is the size of the node's disk, in bytes. A tenth of it is in use.
const diskSize = 100 << 30

// machine is the simulated machine under the kubelet. The kubelet sees it through several
// unrelated interfaces (container runtime, image service, pod cgroups, cAdvisor), which
// all read and change this one state.
type machine struct {
	node   state.Node
	cpus   int
	memory int64
	// rules declare the work of containers without an annotation. clock is the work's.
	rules []work.Rule
	clock work.Clock
	// readinessChanged is called without mu when a pod's containers become ready, or cease
	// to be.
	readinessChanged func(pods []types.NamespacedName)

	// mu guards the fields below, including everything they point to. Callers outside get
	// only copies.
	mu         sync.Mutex
	sandboxes  map[string]*sandbox
	containers map[string]*container
	images     map[string]*runtimeapi.Image
	pods       map[types.UID]*podCgroup
	// kernel runs the containers. It has run them from started to ticked.
	kernel  kernel.Node
	started time.Time
	ticked  time.Time
}

// sandbox describes a pod as the runtime knows it.
type sandbox struct {
	status *runtimeapi.PodSandboxStatus
	// ip is the index of its address among the node's pod addresses.
	ip int
}

// container describes a container as the runtime knows it.
type container struct {
	status *runtimeapi.ContainerStatus
	// sandboxID is the sandbox it belongs to.
	sandboxID string
	// command is the command that it runs, including arguments.
	command []string
	// work is what the program does. run is its current run, and ready whether it is ready;
	// both are unset before the container starts.
	work  *work.Work
	run   *work.Run
	ready bool
	group kernel.Container
	// exit is the timer that ends a container whose command ends by itself.
	exit *time.Timer
}

// podCgroup describes a pod as the kernel of a real machine would know it.
type podCgroup struct {
	name   cm.CgroupName
	config cm.ResourceConfig
	group  kernel.Pod
	// oneShot names the init containers of the pod that run to completion, and
	// declarations are the annotations that declare work. They are kept with the cgroup,
	// although they do not belong there, because the kubelet never sends the former to the
	// runtime, nor changes to the latter.
	oneShot      map[string]bool
	declarations map[string]string
}

func newMachine(cluster *state.Cluster, node state.Node) *machine {
	now := time.Now()
	return &machine{
		node:    node,
		cpus:    cluster.NodeCPU,
		memory:  cluster.NodeMemory,
		rules:   cluster.Work,
		clock:   cluster.Clock,
		kernel:  kernel.Node{Cores: float64(cluster.NodeCPU), Memory: cluster.NodeMemory},
		started: now,
		ticked:  now,

		readinessChanged: func([]types.NamespacedName) {},

		sandboxes:  map[string]*sandbox{},
		containers: map[string]*container{},
		images:     map[string]*runtimeapi.Image{},
		pods:       map[types.UID]*podCgroup{},
	}
}

// running reports whether a container is running. The caller holds mu.
func (c *container) running() bool {
	return c.status.State == runtimeapi.ContainerState_CONTAINER_RUNNING
}

// memoryUsage returns the memory that the pod's containers use, in bytes. The caller
// holds mu.
func (m *machine) memoryUsage(pod types.UID) uint64 {
	var usage uint64
	for _, container := range m.containers {
		if container.running() && uidOf(container.status.Labels) == pod {
			usage += uint64(container.group.Account.Bytes)
		}
	}
	return usage
}

// uidOf returns the UID of the pod that a runtime object's labels name.
func uidOf(labels map[string]string) types.UID {
	return types.UID(kubelettypes.GetPodUID(labels))
}

// oneShotContainers returns the names of the init containers of a pod that must end
// before the next one starts.
func oneShotContainers(pod *v1.Pod) map[string]bool {
	names := map[string]bool{}
	for _, container := range pod.Spec.InitContainers {
		if container.RestartPolicy == nil || *container.RestartPolicy != v1.ContainerRestartPolicyAlways {
			names[container.Name] = true
		}
	}
	return names
}
