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

// ComponentStatus is one component's.
type ComponentStatus struct {
	Name string
	Info process.Info
	// NotReady says why a running component is not ready, nil if it is.
	NotReady error
}

// Status is what there is to say about a cluster.
type Status struct {
	Cluster    *state.Cluster
	Components []ComponentStatus
	// Version is the API server's, empty if it does not answer.
	Version string
	// NodesReady is how many nodes are ready, as far as the API server says.
	NodesReady int
}

// Healthy says whether all components run and are ready.
func (s *Status) Healthy() bool {
	for _, component := range s.Components {
		if component.Info.State != process.Running || component.NotReady != nil {
			return false
		}
	}
	return s.Version != ""
}

// GetStatus looks at a cluster without disturbing it.
func GetStatus(ctx context.Context, dir string) (*Status, error) {
	cluster, err := state.Load(dir)
	if err != nil {
		return nil, err
	}
	status := &Status{Cluster: cluster}
	kubeconfig, err := os.ReadFile(cluster.AdminKubeconfig())
	if err != nil {
		return nil, fmt.Errorf("the cluster has not come up entirely: %w", err)
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

// ask fills in what only the API server knows, if it answers.
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
