package print

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

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
