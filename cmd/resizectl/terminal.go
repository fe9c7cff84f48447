package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal tells whether a person is at the other end of a stream.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// progress is a line on a terminal that is written over; nothing elsewhere.
type progress struct {
	w     io.Writer
	shown bool
}

func newProgress(w io.Writer) *progress {
	if !isTerminal(w) {
		return &progress{}
	}
	return &progress{w: w}
}

func (p *progress) show(line string) {
	if p.w != nil {
		// Whoever closed standard error does not want to know.
		_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.shown = true
	}
}

// clear takes the line away, for what is printed next.
func (p *progress) clear() {
	if p.shown {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
