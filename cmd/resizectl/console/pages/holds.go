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

// holdActions returns what a person can do with a workload that holds cover: end them, or make one that does not exist yet. A restore
// takes precedence over a pause. If it is not known which cover it, any may.
func holdActions(o *print.Output, held []*workloadresizerv1.Hold, scope *workloadresizerv1.HoldScope, known bool) (all []action) {
	add := func(title, command string, scope *workloadresizerv1.HoldScope) {
		if c := print.CommandOf(command, map[string]print.Command{"SCOPE": print.ScopeArguments(scope)}); c != nil {
			all = append(all, action{title, actions(o, c)})
		}
	}
	paused, restored := false, false
	for _, h := range held {
		end, known := ends[h.GetKind()]
		if !known {
			continue
		}
		if !proto.Equal(h.GetScope(), scope) {
			end.title += " " + scopeText(h.GetScope())
		}
		add(end.title, end.command, h.GetScope())
		restored = restored || h.GetKind() == workloadresizerv1.HoldKind_HOLD_KIND_RESTORE
		paused = paused || h.GetKind() == workloadresizerv1.HoldKind_HOLD_KIND_PAUSE
	}
	if !paused && !restored {
		add("Keep its pods from being resized", "resizectl pause SCOPE", scope)
	}
	if !restored {
		add("Give its pods what their authors wrote", "resizectl restore SCOPE", scope)
	}
	if !known {
		add("End a pause, a restore or an open breaker", "resizectl resume SCOPE", scope)
	}
	return all
}

// scopeText says which pods a hold covers that covers more than a workload.
func scopeText(s *workloadresizerv1.HoldScope) string {
	if namespace := print.ScopeNamespace(s); namespace != "" {
		return "of the namespace " + print.OneLine(namespace)
	}
	return "of the cluster"
}
