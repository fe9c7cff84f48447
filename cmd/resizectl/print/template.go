package print

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
)

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
