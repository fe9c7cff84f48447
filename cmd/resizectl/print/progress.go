package print

import (
	"fmt"
	"io"
	"strings"
)

// Progress is a line on a terminal that is written over; nothing elsewhere.
type Progress struct {
	w     io.Writer
	shown bool
}

// NewProgress is a line on w, if that is a terminal.
func NewProgress(w io.Writer) *Progress {
	if !IsTerminal(w) {
		return &Progress{}
	}
	return &Progress{w: w}
}

// Show writes over what was shown.
func (p *Progress) Show(line string) {
	if p.w != nil {
		// Whoever closed standard error does not want to know.
		_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.shown = true
	}
}

// Planning shows how many plans have come. It is silent at the beginning: most
// answers are complete before the second message of progress, and a bar would only
// flicker.
func (p *Progress) Planning(done, total int64) {
	if done > 0 {
		p.Show(fmt.Sprintf("planning %s of %s", bar(done, total), CountOf(total, "pod")))
	}
}

// Clear takes the line away, for what is printed next.
func (p *Progress) Clear() {
	if p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// barWidth is that of a whole bar, in characters.
const barWidth = 30

// bar draws how much of something is done.
func bar(done, total int64) string {
	full, percent := int64(barWidth), int64(100)
	if total > 0 && done < total {
		full, percent = barWidth*done/total, 100*done/total
	}
	return fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("#", int(full)), strings.Repeat(".", int(barWidth-full)), percent)
}
