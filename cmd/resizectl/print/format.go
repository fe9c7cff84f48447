package print

import (
	"fmt"
	"slices"
	"strings"
)

// Format is a value of -o: a word and, for some words, a template. Formats without a template can
// be compared.
type Format struct {
	word string
	// text is the template as the user wrote it, or the name of its file.
	text string
	// Only one of these is set: by the formats that have a template.
	template *documentTemplate
	columns  *columnTemplate
}

// Formats without a template.
var (
	FormatTable = Format{word: "table"}
	FormatWide  = Format{word: "wide"}
	FormatJSON  = Format{word: "json"}
	FormatYAML  = Format{word: "yaml"}
	// FormatName is for commands whose answers are objects with names.
	FormatName = Format{word: "name"}
)

const (
	jsonPath          = "jsonpath"
	jsonPathAsJSON    = "jsonpath-as-json"
	jsonPathFile      = "jsonpath-file"
	goTemplate        = "go-template"
	goTemplateFile    = "go-template-file"
	customColumns     = "custom-columns"
	customColumnsFile = "custom-columns-file"
)

// Formats are the formats of every answer that have no template.
var Formats = []string{FormatTable.word, FormatWide.word, FormatJSON.word, FormatYAML.word}

// These are the words of formats, by what an answer is: one document, text instead of tables, rows, or
// rows with names.
var (
	templateFormats = []string{jsonPath, jsonPathAsJSON, jsonPathFile, goTemplate, goTemplateFile}
	columnFormats   = []string{customColumns, customColumnsFile}

	DocumentFormats = slices.Concat(Formats, templateFormats)
	TextFormats     = DocumentFormats[2:]
	RowFormats      = slices.Concat(DocumentFormats, columnFormats)
	NamingFormats   = slices.Concat(RowFormats, []string{FormatName.word})
)

// ParseFormat parses a value of -o, whose word must be one of words.
func ParseFormat(value string, words []string) (Format, error) {
	word, text, given := strings.Cut(value, "=")
	takes := slices.Contains(templateFormats, word) || slices.Contains(columnFormats, word)
	switch {
	case !slices.Contains(words, word):
		return Format{}, fmt.Errorf("must be one of %s", strings.Join(words, ", "))
	case !takes && given:
		return Format{}, fmt.Errorf("the format %s has no template: omit %q", word, "="+text)
	case !takes:
		return Format{word: word}, nil
	case text == "":
		return Format{}, fmt.Errorf("the template is missing: set it as in %s", templateExamples[word])
	}
	f, err := parseTemplate(word, text)
	if err != nil {
		return Format{}, fmt.Errorf("%w: write it as in %s", err, templateExamples[word])
	}
	return f, nil
}

// templateExamples are examples of formats with a template.
var templateExamples = map[string]string{
	jsonPath:          "jsonpath='{.revision}'",
	jsonPathAsJSON:    "jsonpath-as-json='{.revision}'",
	jsonPathFile:      "jsonpath-file=FILE",
	goTemplate:        "go-template='{{.revision}}'",
	goTemplateFile:    "go-template-file=FILE",
	customColumns:     "custom-columns=POD:.pod,NODE:.node",
	customColumnsFile: "custom-columns-file=FILE",
}

// parseTemplate parses the template of a format, or reads it from a file.
func parseTemplate(word, text string) (f Format, err error) {
	f.word, f.text = word, text
	content := text
	if strings.HasSuffix(word, "-file") {
		if content, err = readTemplate(text); err != nil {
			return f, err
		}
	}
	switch word {
	case customColumns:
		f.columns, err = parseColumns(content)
	case customColumnsFile:
		f.columns, err = parseColumnsFile(content)
	case goTemplate, goTemplateFile:
		f.template, err = parseGoTemplate(content)
	default:
		f.template, err = parseJSONPath(content, word == jsonPathAsJSON)
	}
	if err != nil && content != text {
		err = fmt.Errorf("%s: %w", text, err)
	}
	return f, err
}

// String returns the word of the format.
func (f Format) String() string { return f.word }

// IsDocument reports whether an answer is written in the form of the API, with its parts as
// they arrive; a table waits for all of them.
func (f Format) IsDocument() bool {
	return f == FormatJSON || f == FormatYAML || f.template != nil
}

// IsListing reports whether only the objects in an answer are printed, by Listing.
func (f Format) IsListing() bool { return f == FormatName || f.columns != nil }
