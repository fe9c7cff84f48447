package print

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal tells whether a person is at the other end of a stream.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
