package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// Exit codes, those of "kubectl diff".
const (
	exitOK          = 0
	exitDifferences = 1
	exitError       = 2
	// exitInvalid is that of a configuration that is not valid.
	exitInvalid = 1
	// exitNotImported is that of an import that left rows out.
	exitNotImported = 1
	// exitInterrupted is 128 + SIGINT, what a shell expects after Ctrl-C.
	exitInterrupted = 130
)

// errDifferences ends a plan that would resize something. Nothing failed, so
// nothing is printed for it.
var errDifferences = errors.New("at least one pod would be resized")

// errInvalid ends a check of configurations that are not valid. What is wrong
// with them was printed.
var errInvalid = errors.New("at least one configuration is not valid")

// errNotRestored ends a restore that is not complete. What is not restored was
// printed by then.
var errNotRestored = errors.New("at least one pod is not restored")

// errNotImported ends an import that left rows out. What is wrong with them was
// printed.
var errNotImported = errors.New("at least one row is bad or was rejected")

// report prints what went wrong, if anything did, and returns the exit code.
func report(ctx context.Context, errOut io.Writer, p print.Painter, err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDifferences), errors.Is(err, errNotRestored):
		return exitDifferences
	case errors.Is(err, errInvalid):
		return exitInvalid
	case errors.Is(err, errNotImported):
		return exitNotImported
	case ctx.Err() != nil:
		return exitInterrupted
	}
	// If standard error is closed there is nobody left to tell.
	_, _ = fmt.Fprintf(errOut, "%s %s\n", p.Paint(print.Red, "error:"), print.Printable(err.Error()))
	return exitError
}
