package usage

import "slices"

// Owner is a controller above a pod.
type Owner struct{ Kind, Name string }

// whole are the kinds that are workloads of their own. An operator may own several of them, whose
// containers have the same names but different work.
var whole = []string{"CronJob", "DaemonSet", "Deployment", "ReplicationController", "StatefulSet"}

// WorkloadOf returns the workload of a pod, given its controllers from the nearest to the topmost
// one. That is the nearest controller of a kind that is a workload of its
// own, or the topmost one, such as the Rollout of a ReplicaSet.
//
// A Job without an owner runs once, so that its name would be a key of its own: job,
// the value of a label of the pod, names it instead. WorkloadOf returns false for a pod without a
// controller, for a Job without this label, and for a static pod, whose controller is its node.
func WorkloadOf(namespace string, owners []Owner, job string) (Workload, bool) {
	if len(owners) == 0 {
		return Workload{}, false
	}
	top := owners[len(owners)-1]
	if i := slices.IndexFunc(owners, func(o Owner) bool { return slices.Contains(whole, o.Kind) }); i >= 0 {
		top = owners[i]
	}
	switch top.Kind {
	case "Node":
		return Workload{}, false
	case "Job":
		return Workload{Namespace: namespace, Kind: top.Kind, Name: job}, job != ""
	}
	return Workload{Namespace: namespace, Kind: top.Kind, Name: top.Name}, true
}
