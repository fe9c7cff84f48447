package agent

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/workload-resizer/workload-resizer/agent/measure"
)

// BenchmarkTwice measures this machine twice. It fails if the machine is not idle, or if the
// scores of a kernel differ by more than 5%, which does not happen on an idle machine. See
// make bench-node.
func BenchmarkTwice(b *testing.B) {
	const most = 0.05
	node, err := NewNode("/")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var runs [2]map[string]measure.Score
		var order []string
		for i := range runs {
			results, err := node.Full(b.Context(), measure.Budget)
			switch {
			case len(results.Scores) == 0:
				b.Fatalf("run %d: %v", i+1, err)
			case err != nil:
				b.Errorf("run %d is not valid: %v", i+1, err)
			case len(results.Skipped) > 0:
				b.Errorf("run %d: skipped %v", i+1, results.Skipped)
			}
			runs[i], order = map[string]measure.Score{}, nil
			for _, s := range results.Scores {
				runs[i][s.Kernel.Name] = s
				order = append(order, s.Kernel.Name)
			}
		}
		// Not to the test's log, which is truncated after 10 lines.
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "BENCHMARK\tALL VCPUS\tAGAIN\tDIFFERENCE\tSINGLE THREAD\tAGAIN\tDIFFERENCE\tSPREAD\tRUNS\tDISTURBED\t")
		var differ []string
		for _, name := range order {
			first, again := runs[0][name], runs[1][name]
			all, single := again.All/first.All-1, again.Single/first.Single-1
			fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%+.1f%%\t%.2f\t%.2f\t%+.1f%%\t%.1f, %.1f%%\t%d, %d\t%.0f, %.0f%%\t\n", name, first.All, again.All, 100*all,
				first.Single, again.Single, 100*single, 100*first.Spread, 100*again.Spread, first.Runs, again.Runs, 100*first.Disturbed, 100*again.Disturbed)
			if math.Abs(all) > most || math.Abs(single) > most {
				differ = append(differ, name)
			}
		}
		fmt.Println()
		if err := w.Flush(); err != nil {
			b.Fatal(err)
		}
		if len(differ) > 0 {
			b.Errorf("scores differ by more than %.0f%%: %s", 100*most, strings.Join(differ, ", "))
		}
	}
}
