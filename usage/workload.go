package usage

// Owner is a controller above a pod.
type Owner struct{ Kind, Name string }

// WorkloadOf returns the workload of a pod, given its controllers from the nearest to the topmost
// one, and the pod's labels. A Job without an owner runs once, so that its name would be a key of
// its own: the value of the given label names it instead. It returns false for a pod without a
// controller, and for a Job without this label.
func WorkloadOf(namespace string, owners []Owner, labels map[string]string, jobLabel string) (Workload, bool) {
	if len(owners) == 0 {
		return Workload{}, false
	}
	top := owners[len(owners)-1]
	if top.Kind == "Job" {
		name := labels[jobLabel]
		return Workload{Namespace: namespace, Kind: top.Kind, Name: name}, name != ""
	}
	return Workload{Namespace: namespace, Kind: top.Kind, Name: top.Name}, true
}
