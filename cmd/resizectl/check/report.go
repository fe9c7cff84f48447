package check

import (
	"fmt"
	"io"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Group has the results of the checks about one subject.
type Group struct {
	Name   string   `json:"group"`
	Checks []Result `json:"checks"`
}

// report is everything that was found.
type report struct {
	// Level is the worst of all results.
	Level  Level   `json:"level"`
	Groups []Group `json:"groups"`
}

// worst returns the number of results by level, and the worst level.
func worst(groups []Group) (counts map[Level]int, level Level) {
	counts, level = map[Level]int{}, OK
	for _, group := range groups {
		for _, result := range group.Checks {
			counts[result.Level]++
		}
	}
	switch {
	case counts[Failure] > 0:
		level = Failure
	case counts[Warning] > 0:
		level = Warning
	}
	return counts, level
}

var styles = map[Level]print.Style{OK: print.Freed, Warning: print.Notable, Failure: print.Red}

// width is the width of the longest level.
const width = len(Failure)

// printGroup prints a line per check, and below it what to do.
func printGroup(w io.Writer, p print.Painter, g *Group) error {
	var b strings.Builder
	b.WriteString(g.Name + "\n")
	for _, result := range g.Checks {
		level := p.Paint(styles[result.Level], fmt.Sprintf("%-*s", width, result.Level))
		fmt.Fprintf(&b, "  %s  %s\n", level, print.OneLine(result.Message))
		if result.Remedy != "" {
			fmt.Fprintf(&b, "  %-*s  → %s\n", width, "", print.OneLine(result.Remedy))
		}
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// printSummary prints how many checks there were by level.
func printSummary(w io.Writer, p print.Painter, groups []Group) error {
	counts, level := worst(groups)
	text := fmt.Sprintf("%s, %s, %d ok", print.CountOf(int64(counts[Failure]), "failure"), print.CountOf(int64(counts[Warning]), "warning"), counts[OK])
	_, err := fmt.Fprintln(w, p.Paint(styles[level], text))
	return err
}

// Level is the outcome of a check.
type Level string

const (
	// OK: nothing needs to be done.
	OK Level = "ok"
	// Warning: it works, but not for everything, or not for long.
	Warning Level = "warning"
	// Failure: it does not work.
	Failure Level = "failure"
)

// Result is what a check found.
type Result struct {
	// Check names the check, for scripts.
	Check   string `json:"check"`
	Level   Level  `json:"level"`
	Message string `json:"message"`
	// Remedy is what to do, a command or a page of the documentation; empty if all is well.
	Remedy string `json:"remedy,omitempty"`
}

func ok(check, format string, a ...any) Result {
	return Result{Check: check, Level: OK, Message: fmt.Sprintf(format, a...)}
}

func warning(check, remedy, format string, a ...any) Result {
	return Result{Check: check, Level: Warning, Message: fmt.Sprintf(format, a...), Remedy: remedy}
}

func failure(check, remedy, format string, a ...any) Result {
	return Result{Check: check, Level: Failure, Message: fmt.Sprintf(format, a...), Remedy: remedy}
}

// unknown is the result of a check that could not be made, so nothing may be wrong.
func unknown(check, what string, err error) Result {
	return warning(check, "ask an administrator of the cluster to run this command, or for the right", "%s: not checked: %v", what, err)
}

// aboutReason returns what to do about a reason, from the table that explain and KNOWN_ISSUES.md
// use, too.
func aboutReason(reason contract.Reason, names map[string]string) string {
	info, _ := reason.Info()
	return print.Remedy(info.Remedy, names)
}

// mostNames is how many objects a message names.
const mostNames = 3

// some returns the first names, and how many there are besides.
func some(names []string) string {
	if len(names) <= mostNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
}

// count returns e.g. "1 node" or "2 nodes".
func count(n int, what string) string { return print.CountOf(int64(n), what) }
