package config

import (
	"fmt"
	"maps"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
)

// rule is a section for the pods that match.
type rule struct {
	section
	path  string
	name  string // Set for an override.
	match policy.Criteria
}

// String returns the name of the rule in messages and in the API.
func (r *rule) String() string {
	if r.name == "" {
		return r.path
	}
	return fmt.Sprintf("%s (%s)", r.path, r.name)
}

// readRule reads the section of a rule, which may also have the keys of more.
func readRule(v reader.Value, more reader.Known) *rule {
	r := &rule{path: v.Path}
	known := r.known()
	for key := range new(keys.Partial[policy.Cluster]).Known() {
		known[key] = func(v reader.Value) { v.Fault("applies to all pods, so that no rule can set it") }
	}
	maps.Copy(known, more)
	if v.Fields(known) && r.isEmpty() {
		v.Fault("sets nothing: add baselineNodeType, nodeTypes, bounds, maxSpeedRatio, demand, guard, startup, eviction or work")
	}
	return r
}

// overrides reads the list of rules that have their own match.
func overrides(into *[]*rule) func(reader.Value) {
	return func(v reader.Value) {
		named := map[string]string{}
		v.Items(func(v reader.Value) {
			// These are read after the section: their faults must not affect
			// the check whether the section sets anything.
			var name, match *reader.Value
			r := readRule(v, reader.Known{
				"name":  func(v reader.Value) { name = &v },
				"match": func(v reader.Value) { match = &v },
			})
			if name == nil {
				v.KeyFault("name", "must be set")
			} else {
				read(&r.name, keys.Text)(*name)
			}
			if first, ok := named[r.name]; ok && r.name != "" {
				name.Fault("%q is already the name of %s", r.name, first)
			} else {
				named[r.name] = v.Path
			}
			if match == nil {
				v.KeyFault("match", "must be set")
			} else {
				r.match = readMatch(*match)
			}
			*into = append(*into, r)
		})
	}
}

func readMatch(v reader.Value) (m policy.Criteria) {
	fine := v.Fields(reader.Known{
		"computeClass":  criterion(&m.ComputeClass, keys.LabelValue),
		"namespace":     criterion(&m.Namespace, keys.Name),
		"podLabel":      criteria(&m.Labels, keys.LabelKey, keys.LabelValue),
		"podAnnotation": criteria(&m.Annotations, keys.AnnotationKey, keys.AnnotationValue),
	})
	if fine && m.Namespace == "" && m.ComputeClass == "" && len(m.Labels) == 0 && len(m.Annotations) == 0 {
		v.Fault("must set namespace, computeClass, podLabel or podAnnotation")
	}
	return m
}

// criterion reads a string that is not empty, and its syntax.
func criterion(into *string, syntax keys.Syntax) func(reader.Value) {
	return func(v reader.Value) {
		if read(into, keys.Text)(v); *into != "" {
			syntax.Value(v, *into)
		}
	}
}

// criteria reads the labels or annotations that a pod must have.
func criteria(into *map[string]string, key, value keys.Syntax) func(reader.Value) {
	return func(v reader.Value) {
		*into = map[string]string{}
		v.Each(func(name string, v reader.Value) {
			key.Key(v, name)
			text, ok := v.Text()
			if !ok {
				v.Fault("must be a string, not %s", v)
				return
			}
			value.Value(v, text)
			(*into)[name] = text
		})
	}
}

// byValue reads rules by the key and the value that pods must have. The value may
// be empty.
func byValue(into *[]*rule, key, value keys.Syntax, match func(key, value string) policy.Criteria) func(reader.Value) {
	return func(v reader.Value) {
		v.Each(func(name string, v reader.Value) {
			key.Key(v, name)
			before := len(*into)
			if v.Each(named(into, value.Value, func(value string) policy.Criteria { return match(name, value) })) && len(*into) == before {
				v.Fault("has no rule: add a value with baselineNodeType, nodeTypes, bounds, maxSpeedRatio, demand, guard, startup, eviction or work")
			}
		})
	}
}

// named reads a rule whose key in the mapping is checked.
func named(into *[]*rule, require func(v reader.Value, name string), match func(name string) policy.Criteria) func(string, reader.Value) {
	return func(name string, v reader.Value) {
		require(v, name)
		r := readRule(v, nil)
		r.match = match(name)
		*into = append(*into, r)
	}
}
