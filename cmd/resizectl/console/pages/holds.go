package pages

import (
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/holds"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// holdTable returns holds as a table, which leads to the pages of what they cover.
func holdTable(o *print.Output, held []*workloadresizerv1.Hold) table {
	return tableOf(holds.Kind(o).Table(held...), false, func(row int) string { return held[row].GetKind().String() + held[row].GetScope().String() }, func(row int, column, _ string) string {
		switch s := held[row].GetScope(); column {
		case "Workload":
			of := s.GetWorkload()
			return workloadPath(of.GetNamespace(), &workloadresizerv1.Workload{Kind: of.GetKind(), Name: of.GetName()})
		case "Pod":
			return podPath(s.GetPod().GetNamespace(), s.GetPod().GetName())
		}
		return ""
	})
}

// scopeOf returns the scope of a workload.
func scopeOf(namespace string, of *workloadresizerv1.Workload) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{
		Workload: &workloadresizerv1.NamespacedWorkload{Namespace: namespace, Kind: of.GetKind(), Name: of.GetName()},
	}}
}

// covering returns those of holds that cover all pods of a workload.
func covering(held []*workloadresizerv1.Hold, scope *workloadresizerv1.HoldScope) (all []*workloadresizerv1.Hold) {
	for _, h := range held {
		switch s := h.GetScope().GetScope().(type) {
		case *workloadresizerv1.HoldScope_AllNamespaces:
		case *workloadresizerv1.HoldScope_Namespace:
			if s.Namespace != print.ScopeNamespace(scope) {
				continue
			}
		default:
			if !proto.Equal(h.GetScope(), scope) {
				continue
			}
		}
		all = append(all, h)
	}
	return all
}

// ends are the titles and commands that end holds, by their kinds.
var ends = map[workloadresizerv1.HoldKind]struct{ title, command string }{
	workloadresizerv1.HoldKind_HOLD_KIND_PAUSE:   {"End the pause", "resizectl resume SCOPE --kind pause"},
	workloadresizerv1.HoldKind_HOLD_KIND_RESTORE: {"End the restore", "resizectl resume SCOPE --kind restore"},
	workloadresizerv1.HoldKind_HOLD_KIND_BREAKER: {"Reset the breaker", "resizectl resume SCOPE --kind breaker"},
}

// endOf returns what ends a hold; nil if its scope cannot be written as arguments. about is a scope that needs no words.
func endOf(o *print.Output, h *workloadresizerv1.Hold, about *workloadresizerv1.HoldScope) []action {
	end, known := ends[h.GetKind()]
	c := print.CommandOf(end.command, map[string]print.Command{"SCOPE": print.ScopeArguments(h.GetScope())})
	if !known || c == nil {
		return nil
	}
	if !proto.Equal(h.GetScope(), about) {
		end.title += " " + scopeText(h.GetScope())
	}
	return []action{{end.title, actions(o, c)}}
}

// mostEnds is how many holds the overview ends. Others are on the pages of their workloads.
const mostEnds = 5

// endsOf returns what ends the first holds.
func endsOf(o *print.Output, held []*workloadresizerv1.Hold) (all []action) {
	for _, h := range held[:min(mostEnds, len(held))] {
		all = append(all, endOf(o, h, nil)...)
	}
	return all
}

// holdActions returns what a person can do with a workload that holds cover: end them, or make one that does not exist yet. A restore
// takes precedence over a pause. If it is not known which cover it, any may.
func holdActions(o *print.Output, held []*workloadresizerv1.Hold, scope *workloadresizerv1.HoldScope, known bool) (all []action) {
	add := func(title, command string) {
		if c := print.CommandOf(command, map[string]print.Command{"SCOPE": print.ScopeArguments(scope)}); c != nil {
			all = append(all, action{title, actions(o, c)})
		}
	}
	paused, restored := false, false
	for _, h := range held {
		all = append(all, endOf(o, h, scope)...)
		restored = restored || h.GetKind() == workloadresizerv1.HoldKind_HOLD_KIND_RESTORE
		paused = paused || h.GetKind() == workloadresizerv1.HoldKind_HOLD_KIND_PAUSE
	}
	if !paused && !restored {
		add("Pause its pods", "resizectl pause SCOPE")
	}
	if !restored {
		add("Restore its pods to their originals", "resizectl restore SCOPE")
	}
	if !known {
		add("End a pause, a restore or an open breaker", "resizectl resume SCOPE")
	}
	return all
}

// scopeText says which pods a hold covers.
func scopeText(s *workloadresizerv1.HoldScope) string {
	namespace := print.OneLine(print.ScopeNamespace(s))
	switch of := s.GetScope().(type) {
	case *workloadresizerv1.HoldScope_Namespace:
		return "of the namespace " + namespace
	case *workloadresizerv1.HoldScope_Workload:
		return "of " + namespace + "/" + print.WorkloadName(&workloadresizerv1.Workload{Kind: of.Workload.GetKind(), Name: of.Workload.GetName()})
	case *workloadresizerv1.HoldScope_Pod:
		return "of " + namespace + "/" + print.PodName(of.Pod.GetName())
	}
	return "of the cluster"
}
