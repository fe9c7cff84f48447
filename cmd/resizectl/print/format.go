package print

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
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

// maxTemplateBytes is the maximum size of a file with a template.
const maxTemplateBytes = 1 << 20

// documentTemplate prints parts of a document.
type documentTemplate struct {
	execute func(w io.Writer, document map[string]any) error
}

// Select prints what the template of the format selects from a document. If that fails, it prints
// nothing.
func (f Format) Select(w io.Writer, document map[string]any) error {
	var out bytes.Buffer
	if err := f.template.execute(&out, document); err != nil {
		return fmt.Errorf("the template -o %s=%s does not fit the answer: %s; see its fields with -o json", f.word, f.text, problemOf(err))
	}
	_, err := out.WriteTo(w)
	return err
}

// problemOf returns what is wrong with a template, without how Go templates report it.
func problemOf(err error) string {
	text := err.Error()
	if _, after, found := strings.Cut(text, `executing "output" at `); found {
		text = after
	}
	return strings.TrimSuffix(text, " in type interface {}")
}

// parseJSONPath parses a template as of "kubectl -o jsonpath". As there, a field that does not
// exist is empty.
func parseJSONPath(text string, asJSON bool) (*documentTemplate, error) {
	parsed := func() (*jsonpath.JSONPath, error) {
		path := jsonpath.New("output").AllowMissingKeys(true)
		path.EnableJSONOutput(asJSON)
		return path, path.Parse(text)
	}
	if _, err := parsed(); err != nil {
		return nil, fmt.Errorf("the JSONPath template is not valid: %w", err)
	}
	return &documentTemplate{func(w io.Writer, document map[string]any) error {
		// A range changes the parsed template, so it can be used only once.
		path, err := parsed()
		if err != nil {
			return err
		}
		return path.Execute(w, document)
	}}, nil
}

// parseGoTemplate parses a template as of "kubectl -o go-template", with kubectl's functions.
func parseGoTemplate(text string) (*documentTemplate, error) {
	printer, err := printers.NewGoTemplatePrinter([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the Go template is not valid: %s", strings.TrimPrefix(err.Error(), "template: "))
	}
	printer.AllowMissingKeys(true)
	return &documentTemplate{func(w io.Writer, document map[string]any) error {
		return printer.PrintObj(&unstructured.Unstructured{Object: document}, w)
	}}, nil
}

// readTemplate reads a file with a template.
func readTemplate(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("read the template: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxTemplateBytes+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the template: %w", err)
	case len(text) > maxTemplateBytes:
		return "", fmt.Errorf("read the template: %s is larger than 1 MiB", name)
	case len(bytes.TrimSpace(text)) == 0:
		return "", fmt.Errorf("read the template: %s is empty", name)
	case !utf8.Valid(text):
		return "", fmt.Errorf("read the template: %s is not UTF-8 text", name)
	}
	// Some editors begin UTF-8 text with a byte order mark, which would be printed.
	return strings.TrimPrefix(string(text), "\uFEFF"), nil
}
