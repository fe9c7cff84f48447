package tree

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/edit"
)

var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

func isKustomization(name string) bool { return slices.Contains(kustomizationNames, path.Base(name)) }

// kustomization is a file that combines others.
type kustomization struct {
	file      *File
	doc       *edit.Document
	dir       string
	namespace string
	// renames is the line that changes names; 0 if none does.
	renames int
	// files are the resources that are files, and dirs those that are directories with kustomizations.
	files, dirs, components []string
	patches                 []patch
	// component reports whether it does nothing unless another one includes it.
	component, included bool
}

// patch changes objects of a kustomization.
type patch struct {
	line int
	// file is empty if the patch is in the kustomization itself.
	file string
	// resources reports whether a patch that is not a file with objects changes resources of containers.
	resources bool
	// targeted reports whether kind and name select what it changes, instead of its own kind and name.
	targeted   bool
	kind, name *regexp.Regexp
	// labeled reports whether labels or annotations select it, too, which other fields may add.
	labeled bool
}

// readKustomization reads the file of a kustomization. A file of Flux has the same name.
func (t *Tree) readKustomization(f *File) {
	docs := f.Documents()
	t.fault(f)
	if len(docs) == 0 || docs[0].Root.Kind != yaml.MappingNode || strings.Contains(text(edit.Value(docs[0].Root, "apiVersion")), "toolkit.fluxcd.io") {
		return
	}
	root := docs[0].Root
	k := &kustomization{file: f, doc: docs[0], dir: path.Dir(f.Path), namespace: text(edit.Value(root, "namespace"))}
	k.component = text(edit.Value(root, "kind")) == "Component"
	for _, name := range [...]string{"namePrefix", "nameSuffix"} {
		if key, value := edit.Find(root, name); text(value) != "" {
			k.renames = k.doc.Line(key)
		}
	}
	for _, name := range [...]string{"resources", "bases"} {
		for _, n := range items(edit.Value(root, name)) {
			at := path.Join(k.dir, text(n))
			if _, isFile := t.Files[at]; isFile {
				k.files = append(k.files, at)
			} else {
				k.dirs = append(k.dirs, at)
			}
		}
	}
	for _, n := range items(edit.Value(root, "components")) {
		k.components = append(k.components, path.Join(k.dir, text(n)))
	}
	for _, n := range items(edit.Value(root, "patchesStrategicMerge")) {
		if strings.Contains(n.Value, "\n") {
			k.patches = append(k.patches, inline(k, n, n.Value))
			continue
		}
		k.patches = append(k.patches, patch{line: k.doc.Line(n), file: path.Join(k.dir, text(n))})
	}
	for _, name := range [...]string{"patches", "patchesJson6902"} {
		for _, n := range items(edit.Value(root, name)) {
			k.patches = append(k.patches, k.readPatch(n))
		}
	}
	for _, n := range items(edit.Value(root, "replacements")) {
		p := patch{line: k.doc.Line(n), resources: mentionsResources(n), targeted: true}
		if at := text(edit.Value(n, "path")); at != "" {
			p.file = path.Join(k.dir, at)
		}
		k.patches = append(k.patches, p)
	}
	t.kusts[k.dir] = k
}

// renamed returns the files whose objects may have other names once they are applied.
func (t *Tree) renamed() map[string]bool {
	files, any := map[string]bool{}, false
	for _, k := range t.kusts {
		any = any || k.renames > 0
		for _, name := range k.files {
			files[name] = true
		}
	}
	if !any {
		return nil
	}
	return files
}

func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// inline returns a patch that is text in a kustomization. If it is no JSON patch, it names its object.
func inline(k *kustomization, n *yaml.Node, content string) patch {
	p := patch{line: k.doc.Line(n), resources: strings.Contains(content, "resources")}
	within, _ := edit.Parse([]byte(content), nil)
	if docs := within.Documents(); len(docs) == 1 {
		kind, name := text(edit.Value(docs[0].Root, "kind")), text(edit.Value(edit.Value(docs[0].Root, "metadata"), "name"))
		if kind != "" && name != "" {
			p.targeted, p.kind, p.name = true, whole(regexp.QuoteMeta(kind)), whole(regexp.QuoteMeta(name))
		}
	}
	return p
}

// whole returns what matches a string as a whole; nil if the pattern is invalid.
func whole(pattern string) *regexp.Regexp {
	found, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil
	}
	return found
}

// mentionsResources reports whether a node contains the word.
func mentionsResources(n *yaml.Node) bool {
	return strings.Contains(n.Value, "resources") || slices.ContainsFunc(n.Content, mentionsResources)
}

func (k *kustomization) readPatch(n *yaml.Node) patch {
	p := patch{line: k.doc.Line(n)}
	if at := text(edit.Value(n, "path")); at != "" {
		p.file = path.Join(k.dir, at)
	} else if within := edit.Value(n, "patch"); within != nil {
		p = inline(k, n, text(within))
	}
	target := edit.Value(n, "target")
	if target == nil {
		return p
	}
	p.targeted, p.kind, p.name = true, nil, nil
	p.labeled = text(edit.Value(target, "labelSelector")) != "" || text(edit.Value(target, "annotationSelector")) != ""
	for _, of := range []struct {
		into **regexp.Regexp
		name string
	}{{&p.kind, "kind"}, {&p.name, "name"}} {
		if pattern := text(edit.Value(target, of.name)); pattern != "" {
			*of.into = whole(pattern)
		}
	}
	return p
}

// selects reports whether the target of a patch may select an object.
func (p *patch) selects(o *Object) bool {
	return (p.kind == nil || p.kind.MatchString(o.Kind)) && (p.name == nil || p.name.MatchString(o.Name))
}

// Placement is an object as a kustomization at the root, or none, would apply it.
type Placement struct {
	Object *Object
	// Root is the directory of the kustomization; empty if none includes the object. Inner reports whether others include
	// that one, which may nevertheless be applied by itself, as it has a namespace of its own.
	Root  string
	Inner bool
	// Namespace is empty if nothing says which.
	Namespace string
	// Renamed is the kustomization that changes its name; nil if none does.
	Renamed *Refusal
	// Blocked says which patch changes the resources of containers in a way that cannot be edited; nil if none does.
	Blocked *Refusal
	// Partial reports whether the object is only a patch, for one that is not in the directory.
	Partial bool
	// Patches change the object, in their order.
	Patches []*Object
}

// Placements returns how each object is applied.
func (t *Tree) Placements() []*Placement { return t.placed }

// Overlay returns the kustomization in a directory: its file and document; nil if there is none.
func (t *Tree) Overlay(dir string) (*File, *edit.Document) {
	k := t.kusts[dir]
	if k == nil {
		return nil, nil
	}
	return k.file, k.doc
}

// place finds out how each object is applied.
func (t *Tree) place() {
	inFiles := map[string][]*Object{}
	for _, o := range t.Objects {
		inFiles[o.File.Path] = append(inFiles[o.File.Path], o)
	}
	used, patching := map[string]bool{}, map[string]bool{}
	dirs := make([]string, 0, len(t.kusts))
	for dir, k := range t.kusts {
		dirs = append(dirs, dir)
		for _, name := range k.files {
			used[name] = true
		}
		for _, p := range k.patches {
			if f := t.Files[p.file]; f != nil {
				patching[p.file] = true
				if _, read := inFiles[p.file]; !read { // A target may select an object with another name.
					inFiles[p.file] = objects(f)
				}
			}
		}
		for _, inner := range slices.Concat(k.dirs, k.components) {
			if other := t.kusts[inner]; other != nil {
				other.included = true
			}
		}
	}
	slices.Sort(dirs)
	e := expander{tree: t, inFiles: inFiles}
	for _, dir := range dirs {
		if k := t.kusts[dir]; !k.component && (!k.included || k.namespace != "") {
			e.steps = 0
			found := e.expand(k, nil, nil)
			if e.steps > mostSteps {
				t.Refused = append(t.Refused, Refusal{File: k.file.Path, Reason: fmt.Sprintf("it includes more than %d others", mostSteps)})
				continue
			}
			for _, p := range found {
				p.Root, p.Inner = dir, k.included
			}
			t.placed = append(t.placed, found...)
		}
	}
	for _, o := range t.Objects {
		if !used[o.File.Path] && !patching[o.File.Path] {
			t.placed = append(t.placed, &Placement{Object: o, Namespace: o.Namespace})
		}
	}
}

type expander struct {
	tree    *Tree
	inFiles map[string][]*Object
	// steps are how many kustomizations one at the root includes. Each may include others several times.
	steps int
}

const mostSteps = 10_000

// expand returns what a kustomization applies. within are the kustomizations that include it. A component also changes all
// that the one that includes it has so far.
func (e *expander) expand(k *kustomization, all []*Placement, within []*kustomization) []*Placement {
	if e.steps++; slices.Contains(within, k) || e.steps > mostSteps {
		return all
	}
	within = append(within, k)
	for _, name := range k.files {
		for _, o := range e.inFiles[name] {
			all = append(all, &Placement{Object: o, Namespace: o.Namespace})
		}
	}
	for _, dir := range k.dirs {
		if inner := e.tree.kusts[dir]; inner != nil {
			all = append(all, e.expand(inner, nil, within)...)
		}
	}
	for _, dir := range k.components {
		if inner := e.tree.kusts[dir]; inner != nil {
			all = e.expand(inner, all, within)
		}
	}
	return e.apply(k, all)
}

// apply applies the patches and the other fields of a kustomization.
func (e *expander) apply(k *kustomization, all []*Placement) []*Placement {
	for i := range k.patches {
		all = e.patch(k, &k.patches[i], all)
	}
	for _, p := range all {
		if k.namespace != "" {
			p.Namespace = k.namespace
		}
		if k.renames > 0 {
			p.Renamed = &Refusal{File: k.file.Path, Line: k.renames, Reason: "namePrefix or nameSuffix"}
		}
	}
	return all
}

func (e *expander) patch(k *kustomization, p *patch, all []*Placement) []*Placement {
	by := e.inFiles[p.file]
	unclear := len(by) == 0 || p.labeled // It is a patch in JSON, refused, or for some objects only.
	if f := e.tree.Files[p.file]; p.file != "" && f != nil && unclear && !p.resources {
		p.resources = strings.Contains(string(f.Text), "resources")
	}
	if unclear {
		for _, of := range all {
			if p.resources && (!p.targeted || p.selects(of.Object)) && of.Blocked == nil {
				of.Blocked = &Refusal{File: k.file.Path, Line: p.line, Reason: "a patch that may change its resources"}
			}
		}
		return all
	}
	for _, o := range by {
		applied := false
		for _, of := range all {
			if p.targeted && p.selects(of.Object) || !p.targeted && o.Kind == of.Object.Kind && o.Name == of.Object.Name {
				of.Patches = append(of.Patches, o)
				applied = true
			}
		}
		if _, spec := o.Spec(); !applied && spec != nil { // Its object is not in the directory.
			all = append(all, &Placement{Object: o, Namespace: o.Namespace, Partial: true})
		}
	}
	return all
}
