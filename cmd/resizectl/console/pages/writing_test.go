package pages

import (
	"regexp"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// reading are the commands in remedies that change nothing.
var reading = regexp.MustCompile(`^(resizectl (check|config validate|evictions|explain|export|holds|history|nodes|plan|ratios (get|list|suggest)|recommendations|status|usage|workloads)|kubectl (describe|get|logs|top))\b`)

// TestDryRunFirst checks that each command of a remedy either only reads or is shown after its dry run.
func TestDryRunFirst(t *testing.T) {
	o := &print.Output{Commands: func(text string) string { return strings.ReplaceAll(text, "kubectl ", "kubectl --context=blue ") }}
	found := 0
	for _, info := range contract.Reasons() {
		for _, c := range regexp.MustCompile("`((?:resizectl|kubectl) [^`]+)`").FindAllStringSubmatch(info.Remedy, -1) {
			found++
			all := actions(o, strings.Fields(c[1]))
			switch reads := reading.MatchString(c[1]); {
			case reads && len(all) == 1:
			case !reads && len(all) == 2 && strings.HasSuffix(all[0].Text, " --dry-run=server") && all[0].Label == "Try" && all[1].Label == "Do":
			default:
				t.Errorf("%s: %q is shown as %v", info.Reason, c[1], all)
			}
		}
	}
	if found == 0 {
		t.Error("no remedy has a command")
	}
}
