package usage

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// remarkUnknown says what the table does not cover.
func remarkUnknown(errOut io.Writer, total *row) error {
	if total.UnknownContainers == 0 {
		return nil
	}
	unknown := total.unknown()
	_, err := fmt.Fprintf(errOut, "%d of %s unknown: their authors requested cpu %s and memory %s, which no sum counts; \"resizectl usage explain WORKLOAD\" shows why\n",
		total.UnknownContainers, are(total.Containers, "container"), cores(unknown.cpu), bytes(unknown.memory))
	return err
}

// remarkWithheld says of which workloads the table has what their authors requested as recommended.
func remarkWithheld(errOut io.Writer, items []*workloadresizerv1.Recommendation) error {
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
		return nil
	}
	shown := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	_, err := fmt.Fprintf(errOut, "a HorizontalPodAutoscaler compares requests of %s with usage, so usage does not size them, and no savings count; \"resizectl usage explain WORKLOAD\" shows which\n", shown)
	return err
}

// mostNamed is how many workloads a remark names.
const mostNamed = 5

// are returns "1 container is" or e.g. "2 containers are".
func are(n int64, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return print.CountOf(n, what) + " are"
}

// remarkOwner says that the rows are about different workloads than the one that was named: those that its
// pods count for.
func remarkOwner(errOut io.Writer, of *target, rows []*row) error {
	if of.workload == nil {
		return nil
	}
	var others []string
	named := print.WorkloadName(of.workload)
	for _, r := range rows {
		if r.Workload == nil {
			continue
		}
		if name := print.WorkloadName(r.Workload); name != named && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(errOut, "the pods of %s count for %s; the sums are over these pods only\n", named, strings.Join(others, ", "))
	return err
}
