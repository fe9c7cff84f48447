package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// Exit codes, as "kubectl diff" has them.
const (
	ExitOK          = 0
	ExitDifferences = 1
	ExitError       = 2
	// ExitInvalid means that a configuration is not valid.
	ExitInvalid = 1
	// ExitCheckFailed means that a check failed.
	ExitCheckFailed = 1
	// ExitNotImported means that an import left out rows.
	ExitNotImported = 1
	// ExitInterrupted is 128 + SIGINT, what a shell expects after Ctrl-C.
	ExitInterrupted = 130
)

// ErrDifferences ends a plan that would resize something. Nothing failed, so Report prints
// nothing.
var ErrDifferences = errors.New("at least one pod would be resized")

// ErrInvalid ends a check of configurations that are not valid. The faults were printed.
var ErrInvalid = errors.New("at least one configuration is not valid")

// ErrCheckFailed ends checks of which at least one failed. The results were printed.
var ErrCheckFailed = errors.New("at least one check failed")

// ErrNotRestored ends an incomplete restore. The pods that are not restored were printed.
var ErrNotRestored = errors.New("at least one pod is not restored")

// ErrNotImported ends an import that left out rows. The faults were printed.
var ErrNotImported = errors.New("at least one row is bad or was rejected")

// Report prints err, if there is anything to print, and returns the exit code.
func Report(ctx context.Context, errOut io.Writer, p print.Painter, err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrDifferences), errors.Is(err, ErrNotRestored):
		return ExitDifferences
	case errors.Is(err, ErrInvalid):
		return ExitInvalid
	case errors.Is(err, ErrCheckFailed):
		return ExitCheckFailed
	case errors.Is(err, ErrNotImported):
		return ExitNotImported
	case ctx.Err() != nil:
		return ExitInterrupted
	}
	for _, err := range joined(err) {
		// If standard error is closed, there is nowhere left to report.
		_, _ = fmt.Fprintf(errOut, "%s %s\n", p.Paint(print.Red, "error:"), lineOf(err))
	}
	return ExitError
}

// joined returns the errors that errors.Join has joined. Each of them has a line.
func joined(err error) []error {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(many.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	return many.Unwrap()
}

// lineOf returns the text of an error on one line, so that scripts and logs can tell errors apart.
func lineOf(err error) string {
	text := ""
	for line := range strings.Lines(print.Printable(err.Error())) {
		switch line = strings.TrimSpace(line); {
		case line == "":
		case text == "":
			text = line
		case strings.HasSuffix(text, ":"):
			text += " " + line
		default:
			text += "; " + line
		}
	}
	return text
}
