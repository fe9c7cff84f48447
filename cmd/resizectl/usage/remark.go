package usage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// unknownText says what the table does not cover; empty if it covers all.
func unknownText(total *sums) string {
	if total.unknownPods == 0 {
		return ""
	}
	unknown := total.unknown()
	return fmt.Sprintf("%d of %s unknown: their authors requested cpu %s and memory %s, which no sum counts; \"resizectl usage explain WORKLOAD\" shows why",
		total.unknownPods, print.AreOf(total.pods, "container"), cores(unknown.cpu), bytes(unknown.memory))
}

// withheld says of which workloads the table has what their authors requested as recommended; empty if of none.
func withheld(items []*workloadresizerv1.Recommendation) string {
	var names []string
	for _, item := range items {
		if item.GetCpuWithheldMessage() == "" && item.GetMemoryWithheldMessage() == "" {
			continue
		}
		if name := item.GetNamespace() + "/" + print.WorkloadName(item.GetWorkload()); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("a HorizontalPodAutoscaler compares requests of %s with usage, so usage does not size them, and no savings count; \"resizectl usage explain WORKLOAD\" shows which", print.First(names, mostNamed))
}

// mostNamed is how many workloads a remark names.
const mostNamed = 5

// otherOwners says that the rows are about different workloads than the one that was named: those that its
// pods count for. It is empty if they are not.
func otherOwners(of *target, rows []*row) string {
	if of.workload == nil {
		return ""
	}
	var others []string
	named := print.WorkloadName(of.workload)
	for _, r := range rows {
		if r.workload == nil {
			continue
		}
		if name := r.name(); name != named && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("the pods of %s count for %s; the sums are over these pods only", named, strings.Join(others, ", "))
}
