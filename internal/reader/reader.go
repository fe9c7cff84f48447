package reader

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mostEntries is the maximum number of entries of mappings and lists that are read. It is far
// more than any document needs; without it, aliases of aliases could expand to millions.
const mostEntries = 100_000

// Reader walks through one document.
type Reader struct {
	// Faults are the faults found so far.
	Faults  Faults
	entries int
	// lines are the lines of the values that were visited, by their paths.
	lines map[string]int
}

// Fault adds a fault between values, at the path of one. If it is missing, the line is the one of the value that it would be in.
func (r *Reader) Fault(path, format string, args ...any) {
	in := path
	for in != "" && r.lines[in] == 0 {
		in = in[:max(0, strings.LastIndexAny(in, ".["))]
	}
	r.Faults.add(path, r.lines[in], format, args...)
}

// Read reads the only YAML document of the text. It ignores empty documents, such as after a
// trailing ---; text without any other document is null. If the text is not YAML or has
// another document, that is the only fault, and ok is false.
func (r *Reader) Read(text []byte) (content Value, ok bool) {
	content = Value{reader: r, node: &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for found := false; ; {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return content, true
		} else if err != nil {
			r.Faults = Faults{"read YAML: " + err.Error()}
			return Value{}, false
		}
		n := document.Content[0]
		if isNull(n) && n.Value == "" {
			continue
		}
		if found {
			r.Faults = Faults{"must be one YAML document, but more content follows ---"}
			return Value{}, false
		}
		content.node, found = n, true
	}
}

// spent counts an entry, and reports whether it exceeds the limit.
func (r *Reader) spent() bool {
	r.entries++
	if r.entries == mostEntries {
		r.Faults.Add("", "more than %d entries, aliases followed", mostEntries-1)
	}
	return r.Spent()
}

// Spent reports whether the document has too many entries, so that the last were not read.
func (r *Reader) Spent() bool { return r.entries >= mostEntries }
