package export

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/edit"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/size"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/tree"
)

// mapping says where values have the resources of a container.
type mapping struct {
	Workload  string `json:"workload"`
	Container string `json:"container"`
	File      string `json:"file"`
	Path      string `json:"path"`
	// in and line are where the mapping itself is.
	in   string
	line int
}

// readMappings reads the mappings in a tree.
func readMappings(t *tree.Tree) (all []*mapping, err error) {
	for _, name := range t.Mappings {
		var file struct {
			Values []*mapping `json:"values"`
		}
		text := t.Files[name].Text
		if err := sigsyaml.UnmarshalStrict(text, &file); err != nil {
			return nil, fmt.Errorf("read %s: %s: expected values with workload, container, file and path", name, strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: "))
		}
		lines := mappingLines(text)
		for i, m := range file.Values {
			line := 1
			if i < len(lines) {
				line = lines[i]
			}
			if m == nil {
				m = &mapping{} // An item without a value.
			}
			m.in, m.line = name, line
			if m.Workload == "" || m.Container == "" || m.File == "" || m.Path == "" || !strings.Contains(m.Workload, "/") {
				return nil, fmt.Errorf("%s:%d: expected workload ([NAMESPACE/]KIND/NAME), container, file and path", name, m.line)
			}
			m.File = path.Join(path.Dir(name), m.File)
			all = append(all, m)
		}
	}
	return all, nil
}

func mappingLines(text []byte) (lines []int) {
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || len(root.Content) != 1 {
		return nil
	}
	if values := edit.Value(root.Content[0], "values"); values != nil {
		for _, n := range values.Content {
			lines = append(lines, n.Line)
		}
	}
	return lines
}

// embedded is a document in the text of a scalar.
type embedded struct {
	file *tree.File
	doc  *edit.Document
}

// is reports whether the mapping is for a workload.
func (m *mapping) is(w *workload) bool {
	parts := strings.Split(m.Workload, "/")
	if len(parts) == 3 {
		if parts[0] != w.namespace {
			return false
		}
		parts = parts[1:]
	}
	return len(parts) == 2 && strings.EqualFold(parts[0], w.kind) && parts[1] == w.name
}

// mapped plans the containers of a workload whose amounts are in values, and returns which these are.
func (pl *planner) mapped(w *workload) map[string]bool {
	done := map[string]bool{}
	for _, m := range pl.mappings {
		if !m.is(w) || w.containers[m.Container] == nil {
			continue
		}
		pl.matched[w] = true
		refuse := func(file string, line int, reason string) {
			pl.refused = append(pl.refused, tree.Refusal{File: file, Line: line, Object: fmt.Sprintf("%s container %s", w, m.Container), Reason: reason})
		}
		if done[m.Container] {
			refuse(m.in, m.line, "it is mapped twice")
			continue
		}
		done[m.Container] = true
		at, err := pl.find(m)
		if err != nil {
			refuse(m.in, m.line, err.Error())
			continue
		}
		if line, reason := at.refused(); reason != "" {
			refuse(at.file.Path, line, reason)
			continue
		}
		if users := pl.users[at.spot()]; len(users) > 1 {
			refuse(m.in, m.line, fmt.Sprintf("%s is mapped for several containers: %s", m.Path, names(users)))
			continue
		}
		places := []*place{at}
		p := &plan{workload: w, container: m.Container}
		if !pl.decide(p, places, size.Guaranteed([]size.Container{written(places)}), func(reason string) { refuse(at.file.Path, at.line(), reason) }) {
			continue
		}
		p.targets, _, _ = targets(places, p.changes)
		pl.plans = append(pl.plans, p)
	}
	return done
}

// spot is a key in a file.
type spot struct {
	holder *yaml.Node
	key    string
}

func (p *place) spot() spot { return spot{p.holder, p.key} }

// mappedTo returns which containers are mapped to each place: one size cannot be that of several.
func (pl *planner) mappedTo(workloads []*workload) map[spot][]string {
	users := map[spot][]string{}
	for _, m := range pl.mappings {
		at, err := pl.find(m)
		if err != nil {
			continue // It is refused for each workload.
		}
		for _, w := range workloads {
			if !m.is(w) || w.containers[m.Container] == nil {
				continue
			}
			if name := fmt.Sprintf("%s container %s", w, m.Container); !slices.Contains(users[at.spot()], name) {
				users[at.spot()] = append(users[at.spot()], name)
			}
		}
	}
	return users
}

// find returns the place that a mapping names.
func (pl *planner) find(m *mapping) (*place, error) {
	f := pl.tree.Files[m.File]
	if f == nil {
		return nil, fmt.Errorf("%s is not a YAML file in the directory", m.File)
	}
	if f.Refused != nil {
		return nil, fmt.Errorf("%s:%d: %s", f.Path, f.Refused.Line, f.Refused.Reason)
	}
	steps, err := parsePath(m.Path)
	if err != nil {
		return nil, err
	}
	var found, possible []*place
	for _, doc := range f.All() {
		at, err := pl.walk(f, doc, doc.Root, steps)
		switch {
		case err != nil:
			return nil, err
		case at == nil:
		case at.resources() != nil:
			found = append(found, at)
		default:
			possible = append(possible, at)
		}
	}
	if len(found) == 0 {
		found = possible
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%s has no %s", m.File, m.Path)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%s has several documents with %s", m.File, m.Path)
}

// walk follows a path to the mapping that has its last key; nil if it does not exist.
func (pl *planner) walk(f *tree.File, doc *edit.Document, node *yaml.Node, steps []string) (*place, error) {
	var through []*yaml.Node
	for i, step := range steps {
		if node.Kind == yaml.ScalarNode && node.Tag == "!!str" && i > 0 {
			inner, known := pl.embedded[node]
			if !known {
				opened, err := doc.Embedded(node)
				if err != nil {
					return nil, err
				}
				inner = embedded{f, opened}
				pl.embedded[node] = inner
			}
			doc, node, through = inner.doc, inner.doc.Root, nil
		}
		switch {
		case node.Kind == yaml.SequenceNode:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(node.Content) || i == len(steps)-1 {
				return nil, nil
			}
			through = append(through, node)
			node = node.Content[n]
		case node.Kind != yaml.MappingNode:
			return nil, nil
		case i == len(steps)-1:
			return &place{file: f, doc: doc, holder: node, key: step, through: through}, nil
		default:
			through = append(through, node)
			if node = edit.Value(node, step); node == nil {
				return nil, nil
			}
		}
	}
	return nil, nil
}

// parsePath splits a path such as web.resources, pods[0].resources or a["b.c"].
func parsePath(text string) (steps []string, err error) {
	wrong := errors.New("the path " + strconv.Quote(text) + " is not like web.resources, pods[0].resources or web[\"example.com/a\"]")
	for rest := strings.TrimPrefix(text, "."); rest != ""; {
		if inner, ok := strings.CutPrefix(rest, "["); ok {
			step, behind, closed := strings.Cut(inner, "]")
			if !closed || step == "" {
				return nil, wrong
			}
			steps = append(steps, strings.Trim(step, `"'`))
			rest = strings.TrimPrefix(behind, ".")
			continue
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		steps = append(steps, rest[:end])
		rest = strings.TrimPrefix(rest[end:], ".")
	}
	if len(steps) == 0 || slices.Contains(steps, "") {
		return nil, wrong
	}
	return steps, nil
}
