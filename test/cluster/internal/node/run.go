package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/kubelet"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// Run runs a node until the context ends.
func Run(ctx context.Context, cluster *state.Cluster, node state.Node) error {
	if err := emulateVersion(node.KubeletVersion); err != nil {
		return err
	}
	directory := cluster.NodeDir(node.Name)
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return err
	}
	machine := newMachine(cluster, node)
	memoryFile := filepath.Join(directory, "machine.json")
	if err := machine.restore(memoryFile); err != nil {
		return err
	}
	if err := startKubelet(ctx, cluster, machine, directory); err != nil {
		return fmt.Errorf("start kubelet of node %s: %w", node.Name, err)
	}
	<-ctx.Done()
	return machine.save(memoryFile)
}

// startKubelet does what the kubelet's own command does. Of the kubelet's servers, it
// starts only the one that the API server connects to. The others would listen on ports
// and sockets that nothing here uses.
func startKubelet(ctx context.Context, cluster *state.Cluster, machine *machine, directory string) error {
	flags, config, err := kubeletConfig(cluster, machine.node, directory)
	if err != nil {
		return err
	}
	clients, err := newClients(cluster.Kubeconfig(state.NodeComponent(machine.node.Name)), config)
	if err != nil {
		return err
	}
	avoidNameService()
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	forwarder, err := startForwarder(ctx, machine)
	if err != nil {
		return err
	}
	tlsConfig, err := serverTLS(cluster, machine.node)
	if err != nil {
		return err
	}
	if err := startExporter(ctx, machine, tlsConfig); err != nil {
		return err
	}
	dependencies := kubeletDependencies(machine, directory, forwarder, clients, newRecorder(ctx, clients.events, machine.node.Name))
	agent, err := kubelet.NewMainKubelet(ctx, config, dependencies, &flags.ContainerRuntimeOptions,
		flags.HostnameOverride, nodeName(machine.node), nil,
		"", flags.CloudProvider, flags.CertDirectory, flags.RootDirectory, config.PodLogsDir,
		"", "", config.RegisterNode, config.RegisterWithTaints, nil, "", false, false,
		flags.MinimumGCAge, flags.MaxPerPodContainerCount, flags.MaxContainerCount,
		flags.NodeLabels, config.NodeStatusMaxImages, config.SeccompDefault)
	if err != nil {
		return err
	}
	machine.readinessChanged = func(pods []types.NamespacedName) {
		var changed []*v1.Pod
		for _, name := range pods {
			if pod, found := agent.GetPodByName(name.Namespace, name.Name); found {
				changed = append(changed, pod)
			}
		}
		agent.HandlePodSyncs(ctx, changed)
	}
	agent.BirthCry()
	agent.StartGarbageCollection(ctx)
	go agent.Run(ctx, dependencies.PodConfig.Updates())
	go machine.keepTicking(ctx)
	// The client certificate alone decides who has access.
	go agent.ListenAndServe(ctx, config, tlsConfig, nil, dependencies.TracerProvider)
	return nil
}

// clients are the kubelet's clients of the API server.
type clients struct {
	main *kubernetes.Clientset
	// Heartbeats have their own client, so that they never wait for other requests and time
	// out before the node counts as lost.
	heartbeats *kubernetes.Clientset
	// events has the kubelet's limits.
	events *kubernetes.Clientset
}

func newClients(kubeconfig string, kubelet *kubeletconfig.KubeletConfiguration) (*clients, error) {
	main, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	main.QPS = -1
	heartbeats := rest.CopyConfig(main)
	heartbeats.Timeout = heartbeatTimeout
	events := rest.CopyConfig(main)
	events.QPS, events.Burst = float32(kubelet.EventRecordQPS), int(kubelet.EventBurst)
	var c clients
	for _, client := range []struct {
		set    **kubernetes.Clientset
		config *rest.Config
	}{{&c.main, main}, {&c.heartbeats, heartbeats}, {&c.events, events}} {
		if *client.set, err = kubernetes.NewForConfig(client.config); err != nil {
			return nil, err
		}
	}
	return &c, nil
}
