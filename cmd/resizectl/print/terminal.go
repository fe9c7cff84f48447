package print

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Progress is a line on a terminal that is overwritten. Elsewhere, such as in the log of a job, it is a new line each
// minute.
type Progress struct {
	w io.Writer
	// overwrites means that w is a terminal, and shown that the line is on it.
	overwrites, shown bool
	// written is when the last line was written elsewhere.
	written time.Time
}

// eachLine is the time between two lines elsewhere than on a terminal.
const eachLine = time.Minute

// NewProgress returns a line on w.
func NewProgress(w io.Writer) *Progress {
	return &Progress{w: w, overwrites: IsTerminal(w), written: time.Now()}
}

// Show overwrites what was shown before.
func (p *Progress) Show(line string) {
	// A closed standard error is no reason to fail.
	switch {
	case p.w == nil:
	case p.overwrites:
		_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.shown = true
	case time.Since(p.written) >= eachLine:
		_, _ = fmt.Fprintln(p.w, line)
		p.written = time.Now()
	}
}

// Of shows how much is done of something, such as "12 pods".
func (p *Progress) Of(doing string, done, total int64, something string) {
	p.Show(fmt.Sprintf("%s %s of %s", doing, bar(done, total), something))
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
		done = max(0, done)
		full, percent = barWidth*done/total, 100*done/total
	}
	return fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("#", int(full)), strings.Repeat(".", int(barWidth-full)), percent)
}

// Steps prints numbered steps. On a terminal, steps that are wider are wrapped between words, with
// their text aligned. Elsewhere, each step is one line, so that grep finds it.
func (o *Output) Steps(steps []string) error {
	width := widthOf(o.Out)
	for i, step := range steps {
		number := fmt.Sprintf("%2d. ", i+1)
		if _, err := fmt.Fprintln(o.Out, wrap(number+step, width, len(number))); err != nil {
			return err
		}
	}
	return nil
}

// widthOf returns the number of columns of a terminal; 0 if w is none, or does not say.
func widthOf(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// narrowest is the least width that text is wrapped for: below it, lines would be mostly indentation.
const narrowest = 40

// sequence is what colors text, and takes no column.
var sequence = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// wrap breaks a line between words where it would be wider, and indents what follows.
func wrap(line string, width, indent int) string {
	if width < narrowest {
		return line
	}
	var out strings.Builder
	column := 0
	for i, word := range strings.Split(line, " ") {
		n := utf8.RuneCountInString(sequence.ReplaceAllString(word, ""))
		switch {
		case i == 0:
		case column+1+n > width && column > indent:
			out.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += n
	}
	return out.String()
}
