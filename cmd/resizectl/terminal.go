package main

import (
	"os"

	"golang.org/x/term"
)

// isTerminal tells whether a person is at the other end of a stream.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
