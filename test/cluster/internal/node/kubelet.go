package node

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"time"

	noopoteltrace "go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/cri-streaming/pkg/streaming"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubeletutil "k8s.io/kubernetes/pkg/kubelet/util"
	"k8s.io/kubernetes/pkg/util/oom"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/configmap"
	"k8s.io/kubernetes/pkg/volume/downwardapi"
	"k8s.io/kubernetes/pkg/volume/emptydir"
	"k8s.io/kubernetes/pkg/volume/hostpath"
	"k8s.io/kubernetes/pkg/volume/projected"
	"k8s.io/kubernetes/pkg/volume/secret"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

const (
	// maxPods is less than maxPodIPs: a pod may start while the one it
	// replaces still has its address.
	maxPods = 250
	// heartbeatTimeout is a quarter of the time after which a silent node
	// counts as lost.
	heartbeatTimeout = 10 * time.Second
	// loopback is the address of every node: nothing of the cluster is to be
	// reached from other machines. A kubelet takes a host's name that is an
	// address for its own address.
	loopback = "127.0.0.1"
)

// kubeletConfig is upstream's default configuration with what a simulated
// machine needs changed.
func kubeletConfig(cluster *state.Cluster, node state.Node, directory string) (*options.KubeletFlags, *kubeletconfig.KubeletConfiguration, error) {
	flags := options.NewKubeletFlags()
	flags.RootDirectory = directory
	flags.CertDirectory = filepath.Join(directory, "pki")
	flags.HostnameOverride = loopback
	// By itself the kubelet would make this of its host's name, which is loopback.
	flags.NodeLabels = map[string]string{v1.LabelHostname: node.Name}
	if node.Type != "" {
		flags.NodeLabels[cluster.NodeLabel] = node.Type
	}

	config, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, nil, err
	}
	// There is no socket: the runtime lives in this process.
	config.ContainerRuntimeEndpoint = "unix:///simulated"
	config.ImageServiceEndpoint = config.ContainerRuntimeEndpoint
	config.EnableServer = true
	config.Address = loopback
	config.Port = int32(node.KubeletPort)
	config.PodLogsDir = filepath.Join(directory, "pod-logs")
	// Negative: logs, which simulated containers have none of, do not rotate.
	config.ContainerLogMaxSize = "-1"
	config.MaxPods = maxPods
	config.RegisterNode = true
	// The pods' cgroups are simulated, those of the node are not needed.
	config.CgroupsPerQOS = true
	config.EnforceNodeAllocatable = nil
	config.LocalStorageCapacityIsolation = true
	// Simulated memory and disk do not run short.
	config.EvictionHard = map[string]string{}
	config.FailSwapOn = false
	config.ResolverConfig = ""
	config.MakeIPTablesUtilChains = false
	// No volume can be attached to a simulated machine.
	config.EnableControllerAttachDetach = false
	// Negative: the volumes' sizes are not looked at.
	config.VolumeStatsAggPeriod.Duration = -1
	config.SerializeImagePulls = false
	config.RegistryPullQPS = 0
	return flags, config, nil
}

// kubeletDependencies puts the simulated machine where the real one would be.
func kubeletDependencies(machine *machine, forwarder streaming.Server, client, heartbeats *kubernetes.Clientset) *kubelet.Dependencies {
	return &kubelet.Dependencies{
		KubeClient:           client,
		HeartbeatClient:      heartbeats,
		RemoteRuntimeService: runtime{machine: machine, forwarder: forwarder},
		RemoteImageService:   images{machine},
		CAdvisorInterface:    advisor{machine},
		ContainerManager:     newContainerManager(machine),
		ProbeManager:         probes{},
		OSInterface:          &fakeOS{},
		OOMAdjuster:          oom.NewFakeOOMAdjuster(),
		Mounter:              mount.NewFakeMounter(nil),
		Subpather:            &subpath.FakeSubpath{},
		HostUtil:             hostutil.NewFakeHostUtil(nil),
		VolumePlugins:        volumePlugins(),
		TracerProvider:       noopoteltrace.NewTracerProvider(),
		// With any other kind the kubelet insists on reading the real
		// machine's kernel log. So nodes report no events.
		Recorder:                  &record.FakeRecorder{},
		PodStartupLatencyTracker:  kubeletutil.NewPodStartupLatencyTracker(),
		NodeStartupLatencyTracker: kubeletutil.NewNodeStartupLatencyTracker(),
	}
}

// volumePlugins are those that need nothing but a directory.
func volumePlugins() []volume.VolumePlugin {
	var plugins []volume.VolumePlugin
	plugins = append(plugins, configmap.ProbeVolumePlugins()...)
	plugins = append(plugins, downwardapi.ProbeVolumePlugins()...)
	plugins = append(plugins, emptydir.ProbeVolumePlugins()...)
	plugins = append(plugins, hostpath.FakeProbeVolumePlugins(volume.VolumeConfig{})...)
	plugins = append(plugins, projected.ProbeVolumePlugins()...)
	plugins = append(plugins, secret.ProbeVolumePlugins()...)
	return plugins
}

func nodeName(node state.Node) types.NodeName { return types.NodeName(node.Name) }

// avoidNameService keeps the kubelet from asking the name service for its
// node's address: the name is made up, and where there is no network each
// question would take seconds.
func avoidNameService() {
	net.DefaultResolver = &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("names of simulated nodes are not looked up")
		},
	}
}
