package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// Exit codes, those of "kubectl diff".
const (
	ExitOK          = 0
	ExitDifferences = 1
	ExitError       = 2
	// ExitInvalid is that of a configuration that is not valid.
	ExitInvalid = 1
	// ExitNotImported is that of an import that left rows out.
	ExitNotImported = 1
	// ExitInterrupted is 128 + SIGINT, what a shell expects after Ctrl-C.
	ExitInterrupted = 130
)

// ErrDifferences ends a plan that would resize something. Nothing failed, so
// nothing is printed for it.
var ErrDifferences = errors.New("at least one pod would be resized")

// ErrInvalid ends a check of configurations that are not valid. What is wrong
// with them was printed.
var ErrInvalid = errors.New("at least one configuration is not valid")

// ErrNotRestored ends a restore that is not complete. What is not restored was
// printed by then.
var ErrNotRestored = errors.New("at least one pod is not restored")

// ErrNotImported ends an import that left rows out. What is wrong with them was
// printed.
var ErrNotImported = errors.New("at least one row is bad or was rejected")

// Report prints what went wrong, if anything did, and returns the exit code.
func Report(ctx context.Context, errOut io.Writer, p print.Painter, err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrDifferences), errors.Is(err, ErrNotRestored):
		return ExitDifferences
	case errors.Is(err, ErrInvalid):
		return ExitInvalid
	case errors.Is(err, ErrNotImported):
		return ExitNotImported
	case ctx.Err() != nil:
		return ExitInterrupted
	}
	// If standard error is closed there is nobody left to tell.
	_, _ = fmt.Fprintf(errOut, "%s %s\n", p.Paint(print.Red, "error:"), print.Printable(err.Error()))
	return ExitError
}
