package usage

import (
	"slices"
	"strings"
	"unicode"
)

// Owner is a controller above a pod.
type Owner struct{ Kind, Name string }

// ByRuns reports whether the pods of the workload end, as those of Jobs do, so that its runs show what it needs.
func (w Workload) ByRuns() bool { return w.Kind == "Job" || w.Kind == "CronJob" }

// whole are the kinds that are workloads of their own. An operator may own several of them, whose
// containers have the same names but different work.
var whole = []string{"CronJob", "DaemonSet", "Deployment", "ReplicationController", "StatefulSet"}

// WorkloadOf returns the workload of a pod, given its controllers from the nearest to the topmost
// one. That is the nearest controller of a kind that is a workload of its own, or the topmost one, such as
// the Rollout of a ReplicaSet.
//
// A Job without an owner runs once, so a history under its name would never grow. Instead, job, the value
// of a label of the pod, names the workload.
//
// WorkloadOf returns the zero value and false for a pod without a controller, for a Job without this label,
// and for a static pod, whose controller is its node. The same applies to a controller that cannot exist: a
// caller that can create pods can name any.
func WorkloadOf(namespace string, owners []Owner, job string) (Workload, bool) {
	if len(owners) == 0 {
		return Workload{}, false
	}
	top := owners[len(owners)-1]
	if i := slices.IndexFunc(owners, func(o Owner) bool { return slices.Contains(whole, o.Kind) }); i >= 0 {
		top = owners[i]
	}
	if top.Kind == "Job" {
		top.Name = job
	}
	if top.Kind == "Node" || top.Name == "" || !top.plausible() {
		return Workload{}, false
	}
	return Workload{Namespace: namespace, Kind: top.Kind, Name: top.Name}, true
}

// The longest kind and name that an object can have.
const (
	longestKind = 63
	longestName = 253
)

// plausible reports whether an object can have this kind and name. The API server accepts any text of up
// to a megabyte in an owner reference.
func (o Owner) plausible() bool {
	letter := func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }
	printed := func(r rune) bool { return r > ' ' && r < unicode.MaxASCII }
	return len(o.Kind) <= longestKind && len(o.Name) <= longestName &&
		!strings.ContainsFunc(o.Kind, func(r rune) bool { return !letter(r) }) && !strings.ContainsFunc(o.Name, func(r rune) bool { return !printed(r) })
}
