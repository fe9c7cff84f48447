package lifecycle

import (
	"context"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/process"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// ComponentStatus is the status of one component.
type ComponentStatus struct {
	Name string
	Info process.Info
	// NotReady is the reason why a running component is not ready, nil if it is ready.
	NotReady error
}

// Status is the status of a cluster.
type Status struct {
	Cluster    *state.Cluster
	Components []ComponentStatus
	// Version is the API server's version, empty if the API server does not respond.
	Version string
	// NodesReady is the number of ready nodes according to the API server.
	NodesReady int
}

// Healthy reports whether all components are running and ready.
func (s *Status) Healthy() bool {
	for _, component := range s.Components {
		if component.Info.State != process.Running || component.NotReady != nil {
			return false
		}
	}
	return s.Version != ""
}

// GetStatus returns the status of a cluster without changing the cluster.
func GetStatus(ctx context.Context, dir string) (*Status, error) {
	cluster, err := state.Load(dir)
	if err != nil {
		return nil, err
	}
	status := &Status{Cluster: cluster}
	kubeconfig, err := os.ReadFile(cluster.AdminKubeconfig())
	if err != nil {
		return nil, fmt.Errorf("the cluster has not come up completely: %w", err)
	}
	prober, err := newProber(cluster, kubeconfig)
	if err != nil {
		return nil, err
	}
	for _, name := range cluster.Components() {
		info, err := process.Find(cluster.PIDFile(name))
		if err != nil {
			return nil, err
		}
		component := ComponentStatus{Name: name, Info: info}
		if info.State == process.Running {
			component.NotReady = prober.check(ctx, name, time.Time{})
		}
		status.Components = append(status.Components, component)
	}
	status.ask(ctx, prober)
	return status, nil
}

// ask fills in what only the API server knows, if it responds.
func (s *Status) ask(ctx context.Context, prober *prober) {
	if version, err := prober.client.Discovery().ServerVersion(); err == nil {
		s.Version = version.GitVersion
	}
	nodes, err := prober.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, node := range nodes.Items {
		if nodeReady(&node) == nil {
			s.NodesReady++
		}
	}
}
