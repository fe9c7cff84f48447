package print

import (
	"fmt"
	"io"
	"strings"
)

// Progress is a line on a terminal that is overwritten. Elsewhere, it shows nothing.
type Progress struct {
	w     io.Writer
	shown bool
}

// NewProgress returns a line on w, if w is a terminal.
func NewProgress(w io.Writer) *Progress {
	if !IsTerminal(w) {
		return &Progress{}
	}
	return &Progress{w: w}
}

// Show overwrites what was shown before.
func (p *Progress) Show(line string) {
	if p.w != nil {
		// A closed standard error is no reason to fail.
		_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.shown = true
	}
}

// Planning shows how many plans have arrived. It is silent at the beginning: most answers
// are complete before the second progress message, and a bar would only flicker.
func (p *Progress) Planning(done, total int64) {
	if done > 0 {
		p.Show(fmt.Sprintf("planning %s of %s", bar(done, total), CountOf(total, "pod")))
	}
}

// Clear removes the line, to make room for other output.
func (p *Progress) Clear() {
	if p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// barWidth is the width of a full bar, in characters.
const barWidth = 30

// bar draws how much of something is done.
func bar(done, total int64) string {
	full, percent := int64(barWidth), int64(100)
	if total > 0 && done < total {
		full, percent = barWidth*done/total, 100*done/total
	}
	return fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("#", int(full)), strings.Repeat(".", int(barWidth-full)), percent)
}
