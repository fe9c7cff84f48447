package main

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// report is the result for a package.
type report struct {
	folder                   string
	killed, endless, excused int
	// survivors are mutants that no test detects and that are not on the list.
	survivors []mutant
	// stale are entries of the list for which no mutant survives.
	stale []equivalent
}

// judge counts the mutants of a package. A mutant may survive as often as it is on the list.
func judge(folder string, mutants []mutant, listed []equivalent) report {
	r := report{folder: folder}
	mutants = slices.Clone(mutants)
	slices.SortFunc(mutants, func(a, b mutant) int {
		return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line, strings.Compare(a.is, b.is))
	})
	for _, e := range listed {
		if path.Dir(e.file) == folder {
			r.stale = append(r.stale, e)
		}
	}
	isListed := func(m mutant) bool {
		i := slices.IndexFunc(r.stale, func(e equivalent) bool {
			return e.change == m.change && strings.HasPrefix(e.why, endless) == (m.status == statusTimedOut)
		})
		if i >= 0 {
			r.stale = slices.Delete(r.stale, i, i+1)
		}
		return i >= 0
	}
	for _, m := range mutants {
		switch {
		case m.status == statusNotViable: // The compiler detects it.
		case m.status == statusKilled:
			r.killed++
		case !isListed(m):
			r.survivors = append(r.survivors, m)
		case m.status == statusTimedOut:
			r.endless++
		default:
			r.excused++
		}
	}
	return r
}

func (r report) good() bool { return len(r.survivors) == 0 && len(r.stale) == 0 }

func (r report) print(w io.Writer) {
	fmt.Fprintf(w, "%-26s %7d %7d %7d %10d %9d\n", r.folder, r.killed+r.endless+r.excused+len(r.survivors), r.killed, r.endless, r.excused, len(r.survivors))
	for _, m := range r.survivors {
		fmt.Fprintf(w, "\n%s:%d %s", m.file, m.line, m.function)
		if m.status != statusLived {
			fmt.Fprintf(w, " (%s)", strings.ToLower(m.status))
		}
		fmt.Fprintf(w, "\n- %s\n+ %s\n", m.was, m.is)
	}
	for _, e := range r.stale {
		fmt.Fprintf(w, "\non the list, but no such mutant survives:\n%s", e.change)
	}
	if !r.good() {
		fmt.Fprintln(w)
	}
}
