package ratios

import (
	"fmt"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// unusedWarnings warn of node types that are not used. Rules that do not use a node type for the same
// reason are named once, by the first of them.
func unusedWarnings(globals []*workloadresizerv1.Ratio, rules ...*workloadresizerv1.RatioRule) (texts []string) {
	warned := map[string]bool{"": true}
	warn := func(nodeType, by, why string) {
		if !warned[why] {
			warned[why] = true
			texts = append(texts, fmt.Sprintf("warning: %s is not used%s: %s", print.OneLine(nodeType), by, print.OneLine(why)))
		}
	}
	for _, ratio := range globals {
		warn(ratio.GetNodeType(), "", ratio.GetImplausible())
	}
	for _, rule := range rules {
		for _, nodeType := range slices.Sorted(maps.Keys(rule.GetImplausible())) {
			warn(nodeType, " by "+print.OneLine(rule.GetName()), rule.GetImplausible()[nodeType])
		}
	}
	return texts
}

// SourceWarnings warn of sources whose current state is not in the table.
func SourceWarnings(sources []*workloadresizerv1.RatioSource) (texts []string) {
	for _, source := range sources {
		if !source.GetHealthy() {
			texts = append(texts, "warning: "+print.SourceProblem(source))
		}
	}
	return texts
}
