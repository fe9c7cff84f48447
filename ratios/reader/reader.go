package reader

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

// mostEntries is how many entries of mappings and lists are read: far more than
// anybody writes, but aliases of aliases come to millions.
const mostEntries = 100_000

// Reader walks through one document.
type Reader struct {
	// Faults are those that were found so far.
	Faults  Faults
	entries int
}

// Read reads the one YAML document in the text that is not empty: a --- that nothing
// follows is no document. What is left out in a text without one is null. If it is no
// YAML, or another document follows, that is the only fault, and ok is false.
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
			r.Faults = Faults{"want one YAML document, there is more after ---"}
			return Value{}, false
		}
		content.node, found = n, true
	}
}

// spent counts an entry, and tells whether it is one too many.
func (r *Reader) spent() bool {
	r.entries++
	if r.entries == mostEntries {
		r.Faults.Add("", "more than %d entries, aliases followed", mostEntries-1)
	}
	return r.Spent()
}

// Spent tells that there were too many entries, of which the last were not read.
func (r *Reader) Spent() bool { return r.entries >= mostEntries }
