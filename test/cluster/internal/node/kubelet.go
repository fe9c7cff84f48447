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
	// loopback is the address of every node, so that other machines cannot reach the
	// cluster. A kubelet whose host name is an address uses that address as its own.
	loopback = "127.0.0.1"
)

// kubeletConfig returns upstream's default configuration, adapted to a simulated machine.
func kubeletConfig(cluster *state.Cluster, node state.Node, directory string) (*options.KubeletFlags, *kubeletconfig.KubeletConfiguration, error) {
	flags := options.NewKubeletFlags()
	flags.RootDirectory = directory
	flags.CertDirectory = filepath.Join(directory, "pki")
	flags.HostnameOverride = loopback
	// By default, the kubelet would set this to its host name, which is loopback.
	flags.NodeLabels = map[string]string{v1.LabelHostname: node.Name}
	if node.Type != "" {
		flags.NodeLabels[cluster.NodeLabel] = node.Type
	}

	config, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, nil, err
	}
	// There is no socket: the runtime is part of this process.
	config.ContainerRuntimeEndpoint = "unix:///simulated"
	config.ImageServiceEndpoint = config.ContainerRuntimeEndpoint
	config.EnableServer = true
	config.Address = loopback
	config.Port = int32(node.KubeletPort)
	config.PodLogsDir = filepath.Join(directory, "pod-logs")
	// Negative: logs are not rotated. Simulated containers have none.
	config.ContainerLogMaxSize = "-1"
	config.MaxPods = maxPods
	config.RegisterNode = true
	if node.Taint != "" {
		config.RegisterWithTaints = []v1.Taint{{Key: node.Taint, Effect: v1.TaintEffectNoSchedule}}
	}
	// Nothing runs there, but without it every pod gets a warning.
	config.ClusterDNS = []string{"10.96.0.10"}
	// The pods' cgroups are simulated. The node's own cgroups are not needed.
	config.CgroupsPerQOS = true
	config.EnforceNodeAllocatable = nil
	config.LocalStorageCapacityIsolation = true
	// Simulated disks do not run short. If memory does, containers are killed, not evicted.
	config.EvictionHard = map[string]string{}
	config.FailSwapOn = false
	config.ResolverConfig = ""
	config.MakeIPTablesUtilChains = false
	// No volume can be attached to a simulated machine.
	config.EnableControllerAttachDetach = false
	// Negative: volume sizes are not measured.
	config.VolumeStatsAggPeriod.Duration = -1
	config.SerializeImagePulls = false
	config.RegistryPullQPS = 0
	return flags, config, nil
}

// kubeletDependencies replaces the real machine with the simulated one.
func kubeletDependencies(machine *machine, directory string, forwarder streaming.Server, clients *clients, recorder record.EventRecorderLogger) *kubelet.Dependencies {
	return &kubelet.Dependencies{
		KubeClient:                clients.main,
		HeartbeatClient:           clients.heartbeats,
		RemoteRuntimeService:      runtime{machine: machine, forwarder: forwarder},
		RemoteImageService:        images{machine},
		CAdvisorInterface:         advisor{machine},
		ContainerManager:          newContainerManager(machine),
		ProbeManager:              probes{machine, recorder},
		OSInterface:               &nodeOS{directory: directory},
		OOMAdjuster:               oom.NewFakeOOMAdjuster(),
		Mounter:                   mount.NewFakeMounter(nil),
		Subpather:                 &subpath.FakeSubpath{},
		HostUtil:                  hostutil.NewFakeHostUtil(nil),
		VolumePlugins:             volumePlugins(),
		TracerProvider:            noopoteltrace.NewTracerProvider(),
		Recorder:                  recorder,
		PodStartupLatencyTracker:  kubeletutil.NewPodStartupLatencyTracker(),
		NodeStartupLatencyTracker: kubeletutil.NewNodeStartupLatencyTracker(),
	}
}

// volumePlugins returns the plugins that need nothing but a directory.
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

// avoidNameService keeps the kubelet from looking up its node's name in DNS. The name is
// made up, and without a network each query would take seconds.
func avoidNameService() {
	net.DefaultResolver = &net.Resolver{
		PreferGo: true,
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("names of simulated nodes are not looked up")
		},
	}
}
