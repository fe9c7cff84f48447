package controlplane

import "github.com/workload-resizer/workload-resizer/test/cluster/internal/state"

// Arguments returns the command-line arguments of a component that runs as a program of
// its own instead of the built-in one. It returns nil for etcd and nodes, which have no
// such program.
func Arguments(cluster *state.Cluster, component string) []string {
	switch component {
	case state.APIServer:
		return apiServerArguments(cluster)
	case state.ControllerManager:
		return controllerManagerArguments(cluster)
	case state.Scheduler:
		return schedulerArguments(cluster)
	}
	return nil
}
