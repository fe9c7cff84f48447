package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// mostValues is how many values a YAML document may have: each takes up to a KB while it is
// parsed.
const mostValues = 50_000

// between are the texts of which one is before every value but the first: it is on a line of its
// own, follows a comma, or is inside another one.
var between = [...]string{",", "\n", "\r", "\u0085", "\u2028", "\u2029", "[", "{", "- ", "? "}

// values returns an upper bound of the values of a YAML document.
func values(part []byte) int {
	n := -bytes.Count(part, []byte("\r\n"))
	for _, text := range between {
		n += bytes.Count(part, []byte(text))
	}
	return n
}

// document is one of the documents in a manifest.
type document struct {
	// json is the content. yaml is the text that it was converted from; nil if the text is JSON.
	json, yaml []byte
	// number is the number of the document, and line is its first line, both counted
	// from 1.
	number, line int
}

// where returns the name of the document for errors.
func (d *document) where() string { return fmt.Sprintf("document %d (line %d)", d.number, d.line) }

// documents splits text at lines that start with ---, and after JSON values.
func documents(text []byte) ([]document, error) {
	var all []document
	line := 1
	for _, part := range split(text) {
		found, err := read(part, len(all)+1, line)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
		line += bytes.Count(part, []byte("\n"))
	}
	return all, nil
}

// split splits text before each line that starts with ---. The line stays with the
// following part, so that the part is valid YAML, regardless of the rest of the line.
func split(text []byte) [][]byte {
	var parts [][]byte
	begin := 0
	for at := 0; at < len(text); {
		end := bytes.IndexByte(text[at:], '\n') + 1
		if end == 0 {
			end = len(text) - at
		}
		if line := text[at : at+end]; at > begin && bytes.HasPrefix(line, []byte("---")) {
			parts = append(parts, text[begin:at])
			begin = at
		}
		at += end
	}
	return append(parts, text[begin:])
}

// read reads a part: one YAML document, or a sequence of JSON values. The first document
// has the given number.
func read(part []byte, number, line int) ([]document, error) {
	content := bytes.TrimPrefix(part, []byte("---"))
	if values, ok := jsonValues(content, number, line); ok {
		return values, nil
	}
	d := document{number: number, line: line}
	if name, ok := definition(part); ok {
		d.json = definitionJSON(name)
		return []document{d}, nil
	}
	if n := values(part); n > mostValues {
		return nil, fmt.Errorf("%s: has about %d values, more than %d: send it as JSON, or in parts", d.where(), n, mostValues)
	}
	aliased, refused := aliases(part)
	if refused != nil {
		return nil, d.located(refused)
	}
	convert := yaml.YAMLToJSONStrict
	if aliased {
		convert = yaml.YAMLToJSON // In strict mode, a key must not replace a merged one.
	}
	converted, err := convert(part)
	switch {
	case err != nil && bytes.Contains(part, []byte("{{")):
		// The parser takes {{ for a key, which it prints as Go does.
		problem, _, _ := strings.Cut(withLines(err, line), ": map[")
		return nil, fmt.Errorf("%s: %s: if {{ is of a template, plan what helm template makes of it", d.where(), problem)
	case err != nil:
		return nil, fmt.Errorf("%s: %s", d.where(), withLines(err, line))
	case string(converted) == "null":
		return nil, nil
	}
	d.json, d.yaml = converted, part
	return []document{d}, nil
}

// jsonValues reads a sequence of JSON values; false if the content is something else.
func jsonValues(content []byte, number, line int) ([]document, bool) {
	if trimmed := bytes.TrimSpace(content); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, false
	}
	var values []document
	decoder := json.NewDecoder(bytes.NewReader(content))
	for {
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return values, true
		}
		if err != nil {
			return nil, false
		}
		begin := int(decoder.InputOffset()) - len(value)
		values = append(values, document{json: value, number: number + len(values), line: line + bytes.Count(content[:begin], []byte("\n"))})
	}
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// withLines returns the text of a YAML error with line numbers of the whole text, in which
// the document starts at line begin.
func withLines(err error, begin int) string {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	return lineNumber.ReplaceAllStringFunc(text, func(found string) string {
		n, err := strconv.Atoi(strings.TrimPrefix(found, "line "))
		if err != nil {
			return found
		}
		return fmt.Sprintf("line %d", begin+n-1)
	})
}
