package controlplane

import "github.com/workload-resizer/workload-resizer/test/cluster/internal/state"

// Arguments returns those with which a component's program is to be started,
// for a program of its own rather than the one that is built in. etcd has no
// such program; it and nodes have no arguments, nil.
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
