package tree

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/edit"
)

// Object is an object in a file.
type Object struct {
	File *File
	Doc  *edit.Document
	// Node is the object. It is the whole document, or an item of a list.
	Node            *yaml.Node
	Kind, Namespace string
	Name            string
}

// Line returns where the object starts.
func (o *Object) Line() int { return o.Doc.Line(o.Node) }

// String names the object, as in "Deployment web".
func (o *Object) String() string { return o.Kind + " " + o.Name }

// Refuse returns a refusal of the object.
func (o *Object) Refuse(line int, reason string) Refusal {
	return Refusal{File: o.File.Path, Line: line, Object: o.String(), Reason: reason}
}

// template is why an object is a template, and where.
type template struct {
	line   int
	reason string
}

// Template returns why the object is a template for another tool, and where; empty if it is none.
func (o *Object) Template() (line int, reason string) {
	at := o.Doc.PartLine()
	found, known := o.File.templates[at]
	if !known {
		if o.File.templates == nil {
			o.File.templates = map[int]template{}
		}
		found.line, found.reason = o.template()
		o.File.templates[at] = found
	}
	return found.line, found.reason
}

func (o *Object) template() (line int, reason string) {
	text := o.Doc.Text()
	for _, mark := range [...]string{"{{", "${"} {
		if at := bytes.Index(text, []byte(mark)); at >= 0 {
			reason := "another tool fills in values (" + mark + ")"
			if mark == "{{" {
				reason = "it is a template ({{): map the values that it uses in " + MappingName
			}
			return o.Doc.PartLine() + bytes.Count(text[:at], []byte("\n")), reason
		}
	}
	return 0, ""
}

// objects returns the objects in a file, and the items of lists.
func objects(f *File) (all []*Object) {
	for _, doc := range f.Documents() {
		all = append(all, objectsIn(f, doc, doc.Root, "")...)
	}
	return all
}

func objectsIn(f *File, doc *edit.Document, node *yaml.Node, listed string) (all []*Object) {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	kind := text(edit.Value(node, "kind"))
	if items := edit.Value(node, "items"); strings.HasSuffix(kind, "List") && items != nil && items.Kind == yaml.SequenceNode && listed == "" {
		for _, item := range items.Content {
			all = append(all, objectsIn(f, doc, item, kind)...)
		}
		return all
	}
	if kind == "" && listed != "List" {
		kind = strings.TrimSuffix(listed, "List")
	}
	metadata := edit.Value(node, "metadata")
	if metadata != nil && metadata.Kind == yaml.AliasNode {
		metadata = metadata.Alias
	}
	o := &Object{File: f, Doc: doc, Node: node, Kind: kind, Name: text(edit.Value(metadata, "name")), Namespace: text(edit.Value(metadata, "namespace"))}
	if o.Kind == "" || o.Name == "" {
		return nil
	}
	return []*Object{o}
}

// text returns the text of a scalar; empty for other nodes.
func text(n *yaml.Node) string {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// specAt is where kinds have the spec of their pods; others have it in spec.template.spec.
var specAt = map[string][]string{
	"Pod":     {"spec"},
	"CronJob": {"spec", "jobTemplate", "spec", "template", "spec"},
}

var inTemplate = []string{"spec", "template", "spec"}

// Spec returns the spec of the object's pods, and the mappings that lead to it; the last one is nil if there is none.
func (o *Object) Spec() (through []*yaml.Node, spec *yaml.Node) {
	at, known := specAt[o.Kind]
	if !known {
		at = inTemplate
	}
	spec = o.Node
	for _, name := range at {
		through = append(through, spec)
		if spec = edit.Value(spec, name); spec == nil {
			return through, nil
		}
	}
	return append(through, spec), spec
}

// Keys returns the names of the fields that lead to the spec of the pods of a kind.
func Keys(kind string) []string {
	if at, known := specAt[kind]; known {
		return at
	}
	return inTemplate
}

// Lists are the fields of a pod's spec that have containers.
var Lists = [...]string{"containers", "initContainers"}

// Containers returns the containers of the object's pods by name, with the list that they are in.
func (o *Object) Containers() map[string]*Container {
	_, spec := o.Spec()
	all := map[string]*Container{}
	for _, name := range Lists {
		list := edit.Value(spec, name)
		if list == nil || list.Kind != yaml.SequenceNode {
			continue
		}
		for _, node := range list.Content {
			if of := text(edit.Value(node, "name")); of != "" && node.Kind == yaml.MappingNode {
				all[of] = &Container{Node: node, In: name, list: list}
			}
		}
	}
	return all
}

// Names returns the names of the containers in a list of the object's pods, in their order, and of those that a patch removes
// from it.
func (o *Object) Names(in string) (names, removed []string) {
	_, spec := o.Spec()
	list := edit.Value(spec, in)
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil, nil
	}
	for _, node := range list.Content {
		switch name := text(edit.Value(node, "name")); {
		case name == "":
		case text(edit.Value(node, "$patch")) == "delete":
			removed = append(removed, name)
		default:
			names = append(names, name)
		}
	}
	return names, removed
}

// Container is a container in an object.
type Container struct {
	Node *yaml.Node
	// In is the field that has it.
	In   string
	list *yaml.Node
}

// Through returns the nodes that lead to a container of the object.
func (o *Object) Through(c *Container) []*yaml.Node {
	through, _ := o.Spec()
	return append(through, c.list, c.Node)
}
