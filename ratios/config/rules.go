package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// rule is a section for the pods that match.
type rule struct {
	section
	path  string
	name  string // Of an override.
	match ratios.Match
}

// String is the name that the rule goes by.
func (r *rule) String() string {
	if r.name == "" {
		return r.path
	}
	return fmt.Sprintf("%s (%s)", r.path, r.name)
}

// rule reads the section of a rule, and what more there may be in it.
func (r *reader) rule(path string, n *yaml.Node, more map[string]read) *rule {
	rule := &rule{path: path}
	keys := r.section(&rule.section)
	for key, read := range more {
		keys[key] = read
	}
	before := len(r.faults)
	r.fields(path, n, keys)
	if rule.isEmpty() && len(r.faults) == before {
		r.faults.add(path, "line %d: sets nothing: give it baselineNodeType, nodeTypes or bounds", n.Line)
	}
	return rule
}

// overrides reads the list of rules that have a match of their own.
func (r *reader) overrides(into *[]*rule) read {
	return func(path string, n *yaml.Node) {
		named := map[string]string{}
		r.items(path, n, func(path string, n *yaml.Node) {
			// These two are read after the section, whose faults tell
			// whether it sets anything.
			var name, match *yaml.Node
			rule := r.rule(path, n, map[string]read{
				"name":  func(_ string, n *yaml.Node) { name = n },
				"match": func(_ string, n *yaml.Node) { match = n },
			})
			if name == nil {
				r.faults.add(join(path, "name"), "must be set")
			} else {
				r.text(&rule.name)(join(path, "name"), name)
			}
			if first, ok := named[rule.name]; ok && rule.name != "" {
				r.faults.add(join(path, "name"), "line %d: %q is the name of %s too", name.Line, rule.name, first)
			} else {
				named[rule.name] = path
			}
			if match == nil {
				r.faults.add(join(path, "match"), "must be set")
			} else {
				rule.match = r.match(join(path, "match"), match)
			}
			*into = append(*into, rule)
		})
	}
}

func (r *reader) match(path string, n *yaml.Node) ratios.Match {
	var m ratios.Match
	before := len(r.faults)
	r.fields(path, n, map[string]read{
		"computeClass": func(path string, n *yaml.Node) {
			before := len(r.faults)
			if r.text(&m.ComputeClass)(path, n); len(r.faults) == before {
				r.value(path, n.Line, m.ComputeClass, labelValue)
			}
		},
		"podLabel":      r.criteria(&m.Labels, labelKey, labelValue),
		"podAnnotation": r.criteria(&m.Annotations, annotationKey, annotationValue),
	})
	if m.ComputeClass == "" && len(m.Labels) == 0 && len(m.Annotations) == 0 && len(r.faults) == before {
		r.faults.add(path, "line %d: must name a computeClass, a podLabel or a podAnnotation", n.Line)
	}
	return m
}

// criteria reads the labels or annotations that a pod must have.
func (r *reader) criteria(into *map[string]string, key, value check) read {
	return func(path string, n *yaml.Node) {
		*into = map[string]string{}
		r.each(path, n, func(path, name string, n *yaml.Node) {
			r.key(path, n.Line, name, key)
			var v string
			before := len(r.faults)
			if r.anyText(&v)(path, n); len(r.faults) == before {
				r.value(path, n.Line, v, value)
			}
			(*into)[name] = v
		})
	}
}

// byValue reads rules by the key and the value that pods must have. The value may
// be empty.
func (r *reader) byValue(into *[]*rule, key, value check, match func(key, value string) ratios.Match) read {
	return func(path string, n *yaml.Node) {
		r.each(path, n, func(path, name string, n *yaml.Node) {
			r.key(path, n.Line, name, key)
			before, rules := len(r.faults), len(*into)
			r.each(path, n, r.named(into, r.value, value, func(value string) ratios.Match { return match(name, value) }))
			if len(*into) == rules && len(r.faults) == before {
				r.faults.add(path, "line %d: has no rule: give it a value, and that baselineNodeType, nodeTypes or bounds", n.Line)
			}
		})
	}
}

// byName reads rules by the name that pods must have.
func (r *reader) byName(into *[]*rule, valid check, match func(name string) ratios.Match) read {
	return func(path string, n *yaml.Node) { r.each(path, n, r.named(into, r.key, valid, match)) }
}

// named reads a rule whose key in the mapping is checked.
func (r *reader) named(into *[]*rule, require func(path string, line int, text string, wrong check), valid check, match func(name string) ratios.Match) func(path, name string, n *yaml.Node) {
	return func(path, name string, n *yaml.Node) {
		require(path, n.Line, name, valid)
		rule := r.rule(path, n, nil)
		rule.match = match(name)
		*into = append(*into, rule)
	}
}
