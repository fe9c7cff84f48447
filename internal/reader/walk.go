package reader

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Known maps the keys that a mapping may have to the functions that read their values.
type Known map[string]func(Value)

// Fields reads the value of every key of a mapping, and reports whether there was no fault.
// Unknown keys are faults.
func (v Value) Fields(known Known) bool {
	return v.Each(func(key string, value Value) {
		if read, ok := known[key]; ok {
			read(value)
		} else {
			value.Fault("unknown key%s", known.hint(key))
		}
	})
}

// hint says which key an unknown one may be a misspelling of; empty if it resembles none.
func (k Known) hint(unknown string) string {
	for _, name := range slices.Sorted(maps.Keys(k)) {
		if len(name) > 2 && misspells(strings.ToLower(unknown), strings.ToLower(name)) {
			return fmt.Sprintf("; did you mean %s?", name)
		}
	}
	return ""
}

// misspells reports whether two texts differ by at most one byte, or two neighbors that are swapped.
func misspells(a, b string) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// Each calls visit for every entry of a mapping, and reports whether there was no fault. Null
// is an empty mapping.
func (v Value) Each(visit func(key string, value Value)) bool {
	before := len(v.reader.Faults)
	v.each(map[string]bool{}, visit)
	return len(v.reader.Faults) == before
}

// each skips keys that were visited: the keys of a mapping take precedence over those that it
// merges.
func (v Value) each(visited map[string]bool, visit func(key string, value Value)) {
	if v.IsNull() {
		return
	}
	if v.node.Kind != yaml.MappingNode {
		v.Fault("must be a mapping, not %s", v)
		return
	}
	own := map[string]bool{}
	var merged []Value
	for i := 0; i < len(v.node.Content) && !v.reader.spent(); i += 2 {
		key, value := v.at(v.Path, v.node.Content[i]), v.node.Content[i+1]
		name, plain := key.node.Value, key.node.Kind == yaml.ScalarNode
		switch {
		case !plain:
			key.Fault("key must be a scalar, not %s", key)
		case own[name]:
			key.Path = Join(v.Path, name)
			key.Fault("set twice")
		case key.node.Tag == "!!merge":
			merged = append(merged, v.at(v.Path, value))
		case !visited[name]:
			visited[name] = true
			visit(name, v.child(Join(v.Path, name), value))
		}
		own[name] = plain
	}
	for _, m := range merged {
		m.merge(visited, visit)
	}
}

// merge visits what a mapping merges: another mapping, or a list of mappings.
func (v Value) merge(visited map[string]bool, visit func(key string, value Value)) {
	if v.node.Kind != yaml.SequenceNode {
		v.each(visited, visit)
		return
	}
	v.Items(func(item Value) {
		item.Path = v.Path
		item.each(visited, visit)
	})
}

// Items calls visit for every item of a list, and reports whether there was no fault. Null is
// an empty list.
func (v Value) Items(visit func(item Value)) bool {
	before := len(v.reader.Faults)
	switch {
	case v.IsNull():
	case v.node.Kind != yaml.SequenceNode:
		v.Fault("must be a list, not %s", v)
	default:
		for i, n := range v.node.Content {
			if v.reader.spent() {
				break
			}
			visit(v.child(fmt.Sprintf("%s[%d]", v.Path, i), n))
		}
	}
	return len(v.reader.Faults) == before
}

// Has reports whether the value is a mapping that has all of these keys.
func (v Value) Has(keys ...string) bool {
	if v.node.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(v.node.Content); i += 2 {
		keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == v.node.Content[i].Value })
	}
	return len(keys) == 0
}
