package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"
)

// progress tells people what happens, with the time since the start.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	begin time.Time
	// rest is a line of a program that has not ended yet.
	rest []byte
}

func newProgress(out io.Writer) *progress { return &progress{out: out, begin: time.Now()} }

func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(fmt.Sprintf(format, args...))
}

func (p *progress) line(text string) {
	fmt.Fprintf(p.out, "%5.1fs  %s\n", time.Since(p.begin).Seconds(), text)
}

// otherTime is the time at which a program began its line, by its own clock.
var otherTime = regexp.MustCompile(`^\s*\d+\.\d+s\s+`)

// Write passes on what a program says, line by line with this clock's time.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(p.rest, text...)
	for {
		line, rest, ended := bytes.Cut(p.rest, []byte("\n"))
		if !ended {
			return len(text), nil
		}
		p.line("  " + string(otherTime.ReplaceAll(line, nil)))
		p.rest = rest
	}
}
