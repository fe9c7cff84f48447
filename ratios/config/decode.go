package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// faults collects everything that is wrong with a document.
type faults []string

func (f *faults) add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	*f = append(*f, text)
}

// Error lists the faults, separated by semicolons.
func (f faults) Error() string { return strings.Join(f, "; ") }

// join appends a key to the path of its mapping.
func join(path, key string) string {
	switch {
	case path == "":
		return key
	case strings.ContainsAny(key, `.[]" `) || key == "":
		return fmt.Sprintf("%s[%q]", path, key)
	}
	return path + "." + key
}

// each calls visit for every entry of a mapping. An alias is followed; a null
// is an empty mapping.
func (f *faults) each(path string, n *yaml.Node, visit func(path, key string, value *yaml.Node)) {
	n = resolve(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.add(path, "line %d: want a mapping, got %s", n.Line, describe(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			f.add(path, "line %d: want a plain key, got %s", key.Line, describe(key))
			continue
		}
		at := join(path, key.Value)
		if seen[key.Value] {
			f.add(at, "line %d: set twice", key.Line)
			continue
		}
		seen[key.Value] = true
		visit(at, key.Value, resolve(n.Content[i+1]))
	}
}

// fields calls the function of every key; keys without one are faults.
func (f *faults) fields(path string, n *yaml.Node, known map[string]func(path string, value *yaml.Node)) {
	f.each(path, n, func(at, key string, value *yaml.Node) {
		read, ok := known[key]
		if !ok {
			f.add(at, "line %d: unknown key", value.Line)
			return
		}
		read(at, value)
	})
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	return fmt.Sprintf("%q", n.Value)
}

// text reads a string that is not empty.
func (f *faults) text(into *string) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" {
			f.add(path, "line %d: want a text, got %s", n.Line, describe(n))
			return
		}
		*into = n.Value
	}
}

// perf reads a performance: a finite number above 0.
func (f *faults) perf(into *float64) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		var v float64
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil || !ratios.ValidPerf(v) {
			f.add(path, "line %d: want a finite number above 0, got %s", n.Line, describe(n))
			return
		}
		*into = v
	}
}

// quantity reads a Kubernetes quantity whose sign is at least leastSign and that
// is at most most.
func (f *faults) quantity(into *resource.Quantity, leastSign int, most resource.Quantity) func(string, *yaml.Node) {
	return func(path string, n *yaml.Node) {
		q, err := resource.ParseQuantity(n.Value)
		switch {
		case n.Kind != yaml.ScalarNode || err != nil:
			f.add(path, "line %d: want a quantity such as \"50m\" or \"64Mi\", got %s", n.Line, describe(n))
		case q.Sign() < leastSign:
			f.add(path, "line %d: %s is too small; leave it out for no bound", n.Line, describe(n))
		case q.Cmp(most) > 0:
			f.add(path, "line %d: %s is too large; leave it out for no bound", n.Line, describe(n))
		default:
			*into = q
		}
	}
}
