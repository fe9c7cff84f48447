package lifecycle

import (
	"fmt"
	"os"
	"strings"
)

// tailLines is the number of log lines that an error shows.
const tailLines = 20

// ComponentError reports that a component ended or did not become ready.
type ComponentError struct {
	Component string
	LogFile   string
	Err       error
}

// Error includes the end of the component's log.
func (e *ComponentError) Error() string {
	return fmt.Sprintf("%s: %v\nlast lines of its log, %s:\n%s", e.Component, e.Err, e.LogFile, tail(e.LogFile))
}

// Unwrap returns the underlying error.
func (e *ComponentError) Unwrap() error { return e.Err }

func tail(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	lines = lines[max(len(lines)-tailLines, 0):]
	return "  " + strings.Join(lines, "\n  ")
}
