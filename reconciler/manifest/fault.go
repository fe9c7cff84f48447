package manifest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fault is an error in a document.
type fault struct {
	// item is the path of the object if it is in a list, such as "items[1]". object is its kind and name.
	item, object string
	// path is where the fault is in the object, such as "spec.containers[0].name", and container the
	// container there. All may be empty.
	path, container string
	problem         string
	// within replaces path for the line, if the problem names several paths.
	within string
	// line is the line in the document, counted from 1; 0 if only the path is known.
	line int
}

func (f *fault) Error() string {
	container := f.container
	if container != "" {
		container = "container " + container
	}
	var parts []string
	for _, part := range [...]string{f.item, f.object, container, f.path, f.problem} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// inContainer matches a path in a container, but not that of its name.
var inContainer = regexp.MustCompile(`^(.*\b(?:c|initC|ephemeralC)ontainers\[\d+\])\.(?:[^n]|n[^a]|na[^m]|name.)`)

// located returns the fault as an error with the document and the line of the value.
func (d *document) located(f *fault) error {
	whole := strings.Trim(f.item+"."+f.path+f.within, ".")
	if match := inContainer.FindStringSubmatch(whole); match != nil {
		var name string
		if value, _, ok := find(d.json, match[1]+".name"); ok && json.Unmarshal(value, &name) == nil {
			f.container = fmt.Sprintf("%.63s", name)
		}
	}
	at := *d
	if f.line == 0 {
		f.line = d.lineOf(whole)
	}
	at.line += f.line - 1
	return fmt.Errorf("%s: %w", at.where(), f)
}

// lineOf returns the line in the document of the value at a path, or of the innermost one around it
// that exists.
func (d *document) lineOf(path string) int {
	if d.yaml == nil {
		_, before, _ := find(d.json, path)
		return 1 + strings.Count(string(d.json[:before]), "\n")
	}
	var root yaml.Node
	if yaml.Unmarshal(d.yaml, &root) != nil || len(root.Content) == 0 {
		return 1
	}
	return lineIn(root.Content[0], root.Content[0].Line, path)
}

// lineIn is like lineOf, for a node whose key is in a line. Aliases and merged keys are not followed.
func lineIn(node *yaml.Node, line int, path string) int {
	for i, inner := range node.Content {
		switch {
		case node.Kind == yaml.SequenceNode:
			if rest, ok := step(path, fmt.Sprintf("[%d]", i)); ok {
				return lineIn(inner, inner.Line, rest)
			}
		case node.Kind == yaml.MappingNode && i%2 == 0:
			if rest, ok := step(path, inner.Value); ok {
				return lineIn(node.Content[i+1], inner.Line, rest)
			}
		}
	}
	return line
}

// step returns the rest of a path whose first step is the given one, a key or an index in brackets. Keys
// may contain dots.
func step(path, first string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, first)
	return strings.TrimPrefix(rest, "."), ok && first != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// find returns the value at a path in JSON; false if there is none. before is the number of bytes
// before the value, or before the innermost one around it that exists.
func find(text json.RawMessage, path string) (value json.RawMessage, before int, ok bool) {
	for path != "" {
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		open, err := decoder.Token()
		found := false
		for i := 0; err == nil && !found && decoder.More(); i++ {
			first := fmt.Sprintf("[%d]", i)
			if open == json.Delim('{') {
				key, _ := decoder.Token()
				first, _ = key.(string)
			}
			var inner json.RawMessage
			if err = decoder.Decode(&inner); err != nil {
				break
			}
			if rest, ok := step(path, first); ok {
				before += int(decoder.InputOffset()) - len(inner)
				text, path, found = inner, rest, true
			}
		}
		if !found {
			return nil, before, false
		}
	}
	return text, before, true
}
