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

// document is one of several in a text.
type document struct {
	// json is the content; nil if there is none.
	json []byte
	// number counts documents, and line is where this one begins, both from 1.
	number, line int
}

// where names the document in errors.
func (d *document) where() string { return fmt.Sprintf("document %d (line %d)", d.number, d.line) }

// documents splits a text at lines of --- and after JSON values.
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

// split cuts before each line of ---, which stays with what follows: then it is
// YAML, whatever else is in that line.
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

// read reads a part, whose documents count from number: one of YAML, or JSON
// values one after the other.
func read(part []byte, number, line int) ([]document, error) {
	content := bytes.TrimPrefix(part, []byte("---"))
	if values, ok := jsonValues(content, number, line); ok {
		return values, nil
	}
	d := document{number: number, line: line}
	converted, err := yaml.YAMLToJSONStrict(part)
	switch {
	case err != nil:
		return nil, fmt.Errorf("document %d: %s", number, withLines(err, line))
	case string(converted) == "null":
		return nil, nil
	}
	d.json = converted
	return []document{d}, nil
}

// jsonValues reads JSON values; false if it is something else.
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
		values = append(values, document{value, number + len(values), line + bytes.Count(content[:begin], []byte("\n"))})
	}
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// withLines is the text of an error of YAML, with lines of the whole text: what it
// counts from is line begin.
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
