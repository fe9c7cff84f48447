package benchmarks

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// Verdict says in a sentence what a suggestion means for the ratio in effect. Production comes first: it is about the workloads in this
// cluster.
func Verdict(s *workloadresizerv1.Suggestion) string {
	p, now, source := s.GetProduction(), s.GetCurrent(), print.OneLine(s.GetCurrent().GetProvenance().GetSource())
	nodeType := print.OneLine(s.GetNodeType())
	ratio := 0.0
	if baseline := baselineOf(s); baseline > 0 {
		ratio = now.GetCpuPerf() / baseline
	}
	shown := p.GetRatio() > 0 && len(p.GetHolds()) == 0
	suggested := s.GetRatio() > 0 && len(s.GetHolds()) == 0
	keep := ", so pods there keep their sizes"
	if _, model := nodetype.SplitModel(s.GetNodeType()); model != "" {
		keep = "" // They have the ratio of the node type, if that has one.
	}
	switch {
	case now.GetImplausible() != "":
		return fmt.Sprintf("the ratio of %s is implausible and not used%s: %s has %s.", nodeType, keep, source, print.Perf(now.GetCpuPerf()))
	case shown && now == nil:
		return fmt.Sprintf("no source has a ratio for %s%s. Production shows %s.", nodeType, keep, print.Factor(p.GetRatio()))
	case shown && source == productionSource:
		return fmt.Sprintf("the ratio in effect follows production, which shows %s.", print.Factor(p.GetRatio()))
	case shown && contradictedNow(s):
		amount := "more"
		if ratio > p.GetRatio() {
			amount = "less"
		}
		return fmt.Sprintf("production contradicts the ratio in effect: %s has %s, production shows %s. Pods on %s request %s cpu than they need there.",
			source, print.Factor(ratio), print.Factor(p.GetRatio()), nodeType, amount)
	case shown:
		return fmt.Sprintf("production shows %s, and does not contradict the ratio in effect: %s has %s.", print.Factor(p.GetRatio()), source, print.Factor(ratio))
	case suggested && p == nil:
		return fmt.Sprintf("benchmarks suggest %s.", print.Factor(s.GetRatio()))
	case suggested:
		return fmt.Sprintf("benchmarks suggest %s. Production is not certain enough yet.", print.Factor(s.GetRatio()))
	case now == nil:
		return fmt.Sprintf("nothing is certain enough yet, and no source has a ratio for %s%s.", nodeType, keep)
	}
	return fmt.Sprintf("nothing is certain enough yet to judge the ratio in effect: %s has %s.", source, print.Perf(now.GetCpuPerf()))
}
