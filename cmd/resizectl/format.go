package main

// format is a value of -o.
type format string

const (
	formatTable format = "table"
	formatWide  format = "wide"
	formatJSON  format = "json"
	formatYAML  format = "yaml"
	// formatName is that of commands that list what has a name.
	formatName format = "name"
)

var (
	formats       = []string{string(formatTable), string(formatWide), string(formatJSON), string(formatYAML)}
	namingFormats = append(formats[:len(formats):len(formats)], string(formatName))
)

// isDocument tells whether an answer is written as the API has it, and its parts as
// they come; a table waits for all of them.
func (f format) isDocument() bool { return f == formatJSON || f == formatYAML }
