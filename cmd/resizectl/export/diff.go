package export

import (
	"fmt"
	"strings"
)

// surrounding is how many unchanged lines a diff shows around changes.
const surrounding = 3

// line is a line of a diff. kind is ' ', '-' or '+'.
type line struct {
	kind byte
	text string
}

// unified returns the unified diff of two texts. The names are shown as they are.
func unified(oldName, newName, old, updated string) string {
	lines := compare(strings.SplitAfter(old, "\n"), strings.SplitAfter(updated, "\n"))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", oldName, newName)
	oldAt, newAt := 1, 1
	for at := 0; at < len(lines); {
		if lines[at].kind == ' ' {
			at, oldAt, newAt = at+1, oldAt+1, newAt+1
			continue
		}
		begin := max(at-surrounding, 0)
		for i := begin; i < at; i++ { // Lines in front of a change are unchanged.
			oldAt, newAt = oldAt-1, newAt-1
		}
		end, last := at, at
		for end < len(lines) && end-last <= 2*surrounding {
			if lines[end].kind != ' ' {
				last = end
			}
			end++
		}
		end = min(last+1+surrounding, len(lines))
		var hunk strings.Builder
		oldLen, newLen := 0, 0
		for _, l := range lines[begin:end] {
			hunk.WriteByte(l.kind)
			hunk.WriteString(l.text)
			if !strings.HasSuffix(l.text, "\n") {
				hunk.WriteString("\n\\ No newline at end of file\n")
			}
			if l.kind != '+' {
				oldLen++
			}
			if l.kind != '-' {
				newLen++
			}
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n%s", lineRange(oldAt, oldLen), lineRange(newAt, newLen), hunk.String())
		at, oldAt, newAt = end, oldAt+oldLen, newAt+newLen
	}
	return b.String()
}

func lineRange(at, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", at-1)
	case 1:
		return fmt.Sprint(at)
	}
	return fmt.Sprintf("%d,%d", at, n)
}

// compare returns the lines of two texts in one order. Changes are few and small, so each is found by the next line
// that both have.
func compare(old, updated []string) (lines []line) {
	old, updated = withoutEnd(old), withoutEnd(updated)
	for len(old) > 0 || len(updated) > 0 {
		if len(old) > 0 && len(updated) > 0 && old[0] == updated[0] {
			lines = append(lines, line{' ', old[0]})
			old, updated = old[1:], updated[1:]
			continue
		}
		removed, added := next(old, updated)
		for _, text := range old[:removed] {
			lines = append(lines, line{'-', text})
		}
		for _, text := range updated[:added] {
			lines = append(lines, line{'+', text})
		}
		old, updated = old[removed:], updated[added:]
	}
	return lines
}

// withoutEnd drops what follows the last newline, if nothing does.
func withoutEnd(lines []string) []string {
	if n := len(lines); lines[n-1] == "" {
		return lines[:n-1]
	}
	return lines
}

// next returns how many lines differ before two lines are the same in both texts again, twice in a row or up to the end.
func next(old, updated []string) (removed, added int) {
	alike := func(i, j int) bool {
		return i == len(old) && j == len(updated) || i < len(old) && j < len(updated) && old[i] == updated[j] &&
			(i+1 == len(old) && j+1 == len(updated) || i+1 < len(old) && j+1 < len(updated))
	}
	for together := 1; together < len(old)+len(updated); together++ {
		for i := together / 2; i >= 0; i-- { // As many removed as added, or else more added.
			if j := together - i; i <= len(old) && j <= len(updated) && alike(i, j) {
				return i, j
			}
		}
	}
	return len(old), len(updated)
}
