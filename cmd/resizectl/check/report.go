package check

import (
	"fmt"
	"io"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
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
