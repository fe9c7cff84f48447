package objective

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
)

// version is what the pods that a controller creates from the same template have in common. A StatefulSet or a
// DaemonSet has several.
type version struct {
	controller types.UID
	revision   string
}

func versionOf(p *pod.Pod) version {
	revision, _ := p.Label("controller-revision-hash")
	return version{p.Controller().UID, revision}
}

// newest is when the newest pod of a workload was created, its version, and when the newest of all other
// versions was created.
type newest struct {
	at     time.Time
	of     version
	others time.Time
}

func (n newest) add(of version, at time.Time) newest {
	switch {
	case n.of == of || n.at.IsZero():
		n.of, n.at = of, later(n.at, at)
	case at.After(n.at):
		n = newest{at, of, n.at}
	default:
		n.others = later(n.others, at)
	}
	return n
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// join finds the subjects whose workloads have new pods.
func (o *Objectives) join(all map[promql.Question][]*subject, now time.Time) {
	var first time.Time
	for _, asked := range all {
		for _, s := range asked {
			if first.IsZero() || s.seen.since.Before(first) {
				first = s.seen.since
			}
		}
	}
	if first.IsZero() {
		return
	}
	newPods := map[owner]newest{}
	for _, p := range o.Cluster.Pods("").List() {
		if !p.CreatedAt().After(first.Add(-young)) {
			continue // Finding the workloads of a pod takes longer.
		}
		of := versionOf(p)
		for _, w := range o.workloadsOf(p) {
			newPods[w] = newPods[w].add(of, p.CreatedAt())
		}
	}
	for _, asked := range all {
		for _, s := range asked {
			of := versionOf(s.of)
			s.joined = slices.ContainsFunc(s.workloads, func(w owner) bool {
				n := newPods[w]
				if n.of == of {
					// An autoscaler adds pods because the resize made the others slow. They count only while they start.
					return n.others.After(s.seen.since.Add(-young)) || n.at.After(now.Add(-young))
				}
				return n.at.After(s.seen.since.Add(-young))
			})
		}
	}
}
