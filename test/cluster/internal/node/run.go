package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/kubelet"

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
	client, heartbeats, err := clients(cluster.Kubeconfig(state.NodeComponent(machine.node.Name)))
	if err != nil {
		return err
	}
	flags, config, err := kubeletConfig(cluster, machine.node, directory)
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
	dependencies := kubeletDependencies(machine, forwarder, client, heartbeats)
	agent, err := kubelet.NewMainKubelet(ctx, config, dependencies, &flags.ContainerRuntimeOptions,
		flags.HostnameOverride, nodeName(machine.node), nil,
		"", flags.CloudProvider, flags.CertDirectory, flags.RootDirectory, config.PodLogsDir,
		"", "", config.RegisterNode, config.RegisterWithTaints, nil, "", false, false,
		flags.MinimumGCAge, flags.MaxPerPodContainerCount, flags.MaxContainerCount,
		flags.NodeLabels, config.NodeStatusMaxImages, config.SeccompDefault)
	if err != nil {
		return err
	}
	agent.BirthCry()
	agent.StartGarbageCollection(ctx)
	go agent.Run(ctx, dependencies.PodConfig.Updates())
	// The client certificate alone decides who has access.
	go agent.ListenAndServe(ctx, config, tlsConfig, nil, dependencies.TracerProvider)
	return nil
}

// clients returns two clients. Heartbeats have their own, so that they never wait for
// other requests and time out before the node counts as lost.
func clients(kubeconfig string) (client, heartbeats *kubernetes.Clientset, err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	if client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, nil, err
	}
	heartbeatConfig := rest.CopyConfig(config)
	heartbeatConfig.Timeout = heartbeatTimeout
	heartbeats, err = kubernetes.NewForConfig(heartbeatConfig)
	return client, heartbeats, err
}
