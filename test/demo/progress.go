package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"
)

// progress prints what happens, with the time since the start.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	begin time.Time
	// rest is an incomplete line of another program.
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

// otherTime matches the time at the beginning of another program's line.
var otherTime = regexp.MustCompile(`^\s*\d+\.\d+s\s+`)

// Write prints the output of another program line by line, with the time of this clock.
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
