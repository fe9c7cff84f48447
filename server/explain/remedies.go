package explain

import (
	"regexp"
	"slices"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
)

var (
	// placeholder matches the words of a remedy that stand for a pod's own.
	placeholder = regexp.MustCompile(`\b(?:POD|NAMESPACE|NODE|TYPE|SCOPE)\b`)
	// commands matches the commands of a remedy, and unfilled what only a person can fill in.
	commands = regexp.MustCompile("`((?:resizectl|kubectl) [^`]+)`")
	unfilled = regexp.MustCompile(`\b[A-Z]{3,}\b`)
)

// remedies returns what to do about each reason of a plan, and about a source of ratios whose current state is not in effect.
func remedies(e *query.Explanation, sources []*workloadresizerv1.RatioSource) (all []*workloadresizerv1.Remedy) {
	names := map[string]string{"POD": e.Plan.Pod.Name, "NAMESPACE": e.Plan.Pod.Namespace, "NODE": e.Plan.Node, "TYPE": e.Plan.NodeType}
	if len(e.Holds) > 0 {
		names["SCOPE"] = scope(e.Holds[0].Scope)
	}
	var codes []contract.Reason
	for _, r := range e.Plan.Reasons {
		codes = append(codes, r.Code)
	}
	if slices.ContainsFunc(sources, func(s *workloadresizerv1.RatioSource) bool { return !s.GetHealthy() }) {
		codes = append(codes, contract.InvalidConfig)
	}
	for _, code := range codes {
		info, _ := code.Info()
		if info.Remedy == "" || info.Remedy == "nothing" {
			continue
		}
		remedy := &workloadresizerv1.Remedy{Code: string(code), Message: placeholder.ReplaceAllStringFunc(info.Remedy, func(word string) string {
			if name := names[word]; name != "" {
				return name
			}
			return word
		})}
		if found := commands.FindStringSubmatch(remedy.GetMessage()); found != nil && !unfilled.MatchString(found[1]) {
			remedy.Command = strings.Fields(found[1])
		}
		all = append(all, remedy)
	}
	return all
}

// scope returns the arguments of "resizectl resume" that name a scope. It knows kinds that are not built in only as they are written.
func scope(of hold.Scope) string {
	switch {
	case of.Pod != "":
		return of.Pod + " -n " + of.Namespace
	case of.Workload.Kind != "":
		return of.Workload.Kind + "/" + of.Workload.Name + " -n " + of.Namespace
	case of.Namespace != "":
		return "-n " + of.Namespace
	}
	return "-A"
}
