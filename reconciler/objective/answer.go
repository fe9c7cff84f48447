package objective

import (
	"math"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/promql"
)

// owner is a pod or a workload.
type owner struct{ namespace, pod, workload string }

// values are the worst values that an answer has of a pod, and of its workloads; NaN without one.
type values struct{ pod, workload float64 }

// nothing are the values of an answer without the pod and its workloads.
var nothing = values{math.NaN(), math.NaN()}

// answer has what an answer says of pods.
type answer struct {
	values map[*subject]values
	about  map[owner][]*subject
}

// expect returns an answer without elements.
func expect(asked []*subject) *answer {
	a := &answer{values: make(map[*subject]values, len(asked)), about: map[owner][]*subject{}}
	for _, s := range asked {
		itself := owner{namespace: s.of.Namespace(), pod: s.of.Name}
		a.about[itself] = append(a.about[itself], s)
		for _, w := range s.workloads {
			a.about[w] = append(a.about[w], s)
		}
		a.values[s] = nothing
	}
	return a
}

// take takes an element, and reports whether it has the labels.
func (a *answer) take(e promql.Element) bool {
	of := owner{namespace: e.Namespace, pod: e.Pod}
	if of.pod == "" {
		of.workload = e.Workload
	}
	if of.namespace == "" || of.pod == "" && of.workload == "" {
		return false
	}
	for _, s := range a.about[of] {
		v := a.values[s]
		if of.pod != "" {
			v.pod = s.objective.Worse(v.pod, e.Value)
		} else {
			v.workload = s.objective.Worse(v.workload, e.Value)
		}
		a.values[s] = v
	}
	return true
}

// before returns the times before the resize of which the value is asked, the last one first. Many pods have the
// same.
func (s *subject) before() []time.Time {
	at := s.seen.since.Truncate(promql.Interval)
	all := []time.Time{at}
	for len(all) < times {
		if at = at.Add(-apart); s.of.CreatedAt().Add(young).After(at) {
			break
		}
		all = append(all, at)
	}
	return all
}

// isNew reports whether the pod was so new before the resize that values of its workload came from other
// pods, as in a rollout.
func (s *subject) isNew() bool { return s.of.CreatedAt().Add(young).After(s.before()[0]) }

// since returns the value since the resize, or why it is not known.
func (s *subject) since(v values) (guard.Value, string) {
	switch {
	case s.isNew():
		return guard.Of(v.pod), ""
	case s.joined && s.objective.IsBrokenBy(v.workload) && !s.objective.IsBrokenBy(v.pod):
		return guard.Value{}, "the workload breaks it, and may do so because of pods that are newer than the resize, and have another template or have just started"
	}
	return guard.Of(s.objective.Worse(v.pod, v.workload)), ""
}

// valueBefore returns the value before the resize, or why it is not known. The pods of a StatefulSet have the
// names of earlier ones, whose measurements a query may still count.
func (s *subject) valueBefore(v values) (guard.Value, string) {
	if !s.isNew() {
		return guard.Of(s.objective.Worse(v.pod, v.workload)), ""
	}
	if v.pod != v.pod || s.of.CreatedAt().After(s.before()[0]) || s.of.Controller().Kind == "StatefulSet" {
		return guard.Value{}, "the pod is new, and had no value of its own before its resize"
	}
	return guard.Of(v.pod), ""
}
