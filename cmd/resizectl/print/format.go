package print

// Format is a value of -o.
type Format string

const (
	FormatTable Format = "table"
	FormatWide  Format = "wide"
	FormatJSON  Format = "json"
	FormatYAML  Format = "yaml"
	// FormatName is for commands that list objects with names.
	FormatName Format = "name"
)

// Formats are the values of -o; NamingFormats are its values for commands with FormatName.
var (
	Formats       = []string{string(FormatTable), string(FormatWide), string(FormatJSON), string(FormatYAML)}
	NamingFormats = append(Formats[:len(Formats):len(Formats)], string(FormatName))
)

// IsDocument reports whether an answer is written in the form of the API, with its parts as
// they arrive; a table waits for all of them.
func (f Format) IsDocument() bool { return f == FormatJSON || f == FormatYAML }
