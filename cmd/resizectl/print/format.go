package print

// Format is a value of -o.
type Format string

const (
	FormatTable Format = "table"
	FormatWide  Format = "wide"
	FormatJSON  Format = "json"
	FormatYAML  Format = "yaml"
	// FormatName is that of commands that list what has a name.
	FormatName Format = "name"
)

// Formats are the values of -o, NamingFormats those of commands that have FormatName.
var (
	Formats       = []string{string(FormatTable), string(FormatWide), string(FormatJSON), string(FormatYAML)}
	NamingFormats = append(Formats[:len(Formats):len(Formats)], string(FormatName))
)

// IsDocument tells whether an answer is written as the API has it, and its parts as
// they come; a table waits for all of them.
func (f Format) IsDocument() bool { return f == FormatJSON || f == FormatYAML }
