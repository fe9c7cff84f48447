package ratios

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// warnOfUnused warns of node types that are not used. Rules that do not use a node type for the same
// reason are named once, by the first of them.
func warnOfUnused(w io.Writer, globals []*workloadresizerv1.Ratio, rules ...*workloadresizerv1.RatioRule) error {
	warned := map[string]bool{}
	warn := func(nodeType, by, why string) error {
		if why == "" || warned[why] {
			return nil
		}
		warned[why] = true
		_, err := fmt.Fprintf(w, "warning: %s is not used%s: %s\n", print.OneLine(nodeType), by, print.OneLine(why))
		return err
	}
	for _, ratio := range globals {
		if err := warn(ratio.GetNodeType(), "", ratio.GetImplausible()); err != nil {
			return err
		}
	}
	for _, rule := range rules {
		by := " by " + print.OneLine(rule.GetName())
		for _, nodeType := range slices.Sorted(maps.Keys(rule.GetImplausible())) {
			if err := warn(nodeType, by, rule.GetImplausible()[nodeType]); err != nil {
				return err
			}
		}
	}
	return nil
}

// WarnOfSources warns of sources whose current state is not in the table.
func WarnOfSources(w io.Writer, sources []*workloadresizerv1.RatioSource) error {
	for _, source := range sources {
		if source.GetHealthy() {
			continue
		}
		if _, err := fmt.Fprintf(w, "warning: %s\n", print.SourceProblem(source)); err != nil {
			return err
		}
	}
	return nil
}
