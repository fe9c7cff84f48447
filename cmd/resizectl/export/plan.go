package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/edit"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/size"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/tree"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// plan is what changes for one container.
type plan struct {
	workload  *workload
	container string
	changes   []size.Change
	// targets are where the changes are made, in their order. There are none if patch is set.
	targets []target
	// patch is the object that a new patch in an overlay is for.
	patch *tree.Object
	// in is the list that has the container, and before are the containers in front of it.
	in     string
	before []string
	// first reports whether the pods had no requests and no limits at all.
	first bool
}

// String names the container.
func (p *plan) String() string { return fmt.Sprintf("%s container %s", p.workload, p.container) }

// file returns the file with the first change; empty if that is a new patch.
func (p *plan) file() string {
	if len(p.targets) == 0 {
		return ""
	}
	return p.targets[0].place.file.Path
}

// planner finds out what changes in a tree.
type planner struct {
	tree  *tree.Tree
	rules *size.Rules
	// overlay is the directory of the overlay that gets patches, in the tree; empty if none may.
	overlay  string
	mappings []*mapping
	embedded map[*yaml.Node]embedded

	plans   []*plan
	refused []tree.Refusal
	kept    []string
	// matched are the workloads that the tree has.
	matched map[*workload]bool
	// users are the containers that are mapped to each place, and of are the placements that each object or patch is a part of.
	users map[spot][]string
	of    map[*yaml.Node][]*tree.Placement
}

// all plans all workloads.
func (pl *planner) all(workloads []*workload) {
	pl.refused = slices.Clone(pl.tree.Refused)
	pl.matched, pl.embedded = map[*workload]bool{}, map[*yaml.Node]embedded{}
	pl.users, pl.of = pl.mappedTo(workloads), map[*yaml.Node][]*tree.Placement{}
	namespaces := map[string][]string{}
	for _, w := range workloads {
		namespaces[w.kind+"/"+w.name] = append(namespaces[w.kind+"/"+w.name], w.namespace)
	}
	byName := map[string][]*tree.Placement{}
	for _, p := range pl.applied(namespaces) {
		for _, o := range append([]*tree.Object{p.Object}, p.Patches...) {
			pl.of[o.Node] = append(pl.of[o.Node], p)
		}
		byName[p.Object.Kind+"/"+p.Object.Name] = append(byName[p.Object.Kind+"/"+p.Object.Name], p)
		if p.Renamed != nil {
			pl.renamed(p, workloads)
		}
	}
	for _, w := range workloads {
		mapped := pl.mapped(w)
		name := w.kind + "/" + w.name
		var fits []*tree.Placement
		for _, p := range byName[name] {
			if p.Renamed == nil && (p.Namespace == "" || p.Namespace == w.namespace) {
				fits = append(fits, p)
			}
		}
		if len(fits) > 0 && len(mapped) < len(w.containers) {
			pl.matched[w] = true
			pl.one(w, fits, byName[name], namespaces[name], mapped)
		}
	}
	slices.SortStableFunc(pl.refused, func(a, b tree.Refusal) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.Line - b.Line
	})
	pl.refused = slices.Compact(pl.refused)
}

// applied returns the placements that may be in the cluster. An overlay that others include is applied by itself if a workload
// is in its namespace, and the others have different ones.
func (pl *planner) applied(namespaces map[string][]string) (all []*tree.Placement) {
	type in struct {
		object    *tree.Object
		namespace string
	}
	outer := map[in]bool{}
	for _, p := range pl.tree.Placements() {
		outer[in{p.Object, p.Namespace}] = outer[in{p.Object, p.Namespace}] || !p.Inner
	}
	for _, p := range pl.tree.Placements() {
		if !p.Inner || !outer[in{p.Object, p.Namespace}] && slices.Contains(namespaces[p.Object.Kind+"/"+p.Object.Name], p.Namespace) {
			all = append(all, p)
		}
	}
	return all
}

// renamed refuses an object whose name a kustomization changes, if its name may be that of a workload.
func (pl *planner) renamed(p *tree.Placement, workloads []*workload) {
	for _, w := range workloads {
		if w.kind == p.Object.Kind && strings.Contains(w.name, p.Object.Name) && (p.Namespace == "" || p.Namespace == w.namespace) {
			pl.matched[w] = true
			pl.refused = append(pl.refused, p.Object.Refuse(p.Object.Line(), fmt.Sprintf("%s in %s:%d changes its name, so that it is unclear which workload it is", p.Renamed.Reason, p.Renamed.File, p.Renamed.Line)))
		}
	}
}

// one plans one workload. fits are the placements that it may have, and all have its name.
func (pl *planner) one(w *workload, fits, all []*tree.Placement, namespaces []string, mapped map[string]bool) {
	refuse := func(p *tree.Placement, line int, reason string) {
		pl.refused = append(pl.refused, p.Object.Refuse(line, reason))
	}
	for _, p := range fits {
		if p.Object != fits[0].Object {
			for _, each := range fits {
				var others []string
				for _, other := range fits {
					if other.Object != each.Object {
						others = append(others, fmt.Sprintf("%s:%d", other.Object.File.Path, other.Object.Line()))
					}
				}
				slices.Sort(others)
				refuse(each, each.Object.Line(), fmt.Sprintf("several objects may be %s, such as %s", w, names(slices.Compact(others))))
			}
			return
		}
	}
	object := fits[0].Object
	if fits[0].Namespace == "" && len(namespaces) > 1 {
		refuse(fits[0], object.Line(), fmt.Sprintf("it names no namespace, and workloads of its name are in %s: set metadata.namespace, or select one with -n", names(namespaces)))
		return
	}
	if line, reason := object.Template(); reason != "" {
		refuse(fits[0], line, reason)
		return
	}
	var roots []string
	for _, p := range all {
		if p.Object == object {
			roots = append(roots, p.Root)
		}
	}
	at := fits[0]
	if len(fits) > 1 {
		chosen := slices.IndexFunc(fits, func(p *tree.Placement) bool { return pl.overlay != "" && p.Root == pl.overlay })
		if chosen < 0 {
			refuse(at, object.Line(), fmt.Sprintf("several overlays use it: %s; --overlay selects one", names(shown(roots))))
			return
		}
		at = fits[chosen]
	}
	if at.Blocked != nil {
		refuse(at, object.Line(), fmt.Sprintf("%s:%d is %s", at.Blocked.File, at.Blocked.Line, at.Blocked.Reason))
		return
	}
	pl.containers(w, at, shown(roots), mapped)
}

// shown returns the names of directories for people.
func shown(dirs []string) []string {
	all := slices.Clone(dirs)
	for i, dir := range all {
		if dir == "." {
			all[i] = "./"
		}
	}
	return all
}

// containers plans the containers of a workload.
func (pl *planner) containers(w *workload, at *tree.Placement, roots []string, mapped map[string]bool) {
	object := at.Object
	places := map[string][]*place{}
	for _, o := range append([]*tree.Object{object}, at.Patches...) {
		through, spec := o.Spec()
		if spec == nil {
			if n := edit.Value(through[len(through)-1], tree.Keys(o.Kind)[len(through)-1]); n != nil || edit.Merges(through[len(through)-1]) {
				pl.refused = append(pl.refused, o.Refuse(o.Line(), "an alias or a merge (<<) has its pod template"))
				return
			}
		}
		if edit.Value(spec, "resources") != nil {
			pl.refused = append(pl.refused, o.Refuse(o.Doc.Line(edit.Value(spec, "resources")), "its pod has resources that its containers share (spec.resources)"))
			return
		}
		if edit.Merges(spec) || spec != nil && edit.Value(spec, "containers") != nil && edit.Value(spec, "containers").Kind == yaml.AliasNode {
			pl.refused = append(pl.refused, o.Refuse(o.Doc.Line(spec), "an alias or a merge (<<) has its containers"))
			return
		}
		for name, c := range o.Containers() {
			places[name] = append(places[name], &place{
				file: o.File, doc: o.Doc, holder: c.Node, key: "resources", through: o.Through(c), behind: []string{"image", "name"}, shared: pl.shared(o, at, roots),
			})
		}
	}
	var pod []size.Container
	for _, name := range slices.Sorted(maps.Keys(places)) {
		pod = append(pod, written(places[name]))
	}
	guaranteed := size.Guaranteed(pod)
	first := !slices.ContainsFunc(pod, func(c size.Container) bool { return c != size.Container{} })
	for _, name := range slices.Sorted(maps.Keys(w.containers)) {
		if mapped[name] || places[name] == nil {
			continue // A container that is not in the manifest was injected.
		}
		of := &plan{workload: w, container: name, first: first}
		pl.container(of, places[name], guaranteed, object, at)
	}
}

// shared returns why an edit of an object would change more than the workload; empty if it would not.
func (pl *planner) shared(o *tree.Object, at *tree.Placement, roots []string) string {
	if f := o.File.Refused; f != nil {
		return f.Reason
	}
	if line, reason := o.Template(); reason != "" {
		return fmt.Sprintf("%s:%d: %s", o.File.Path, line, reason)
	}
	for _, other := range pl.of[o.Node] {
		switch {
		case other == at:
		case other.Object == at.Object:
			return fmt.Sprintf("several overlays use it: %s; with --overlay, one of them gets a patch", names(roots))
		default:
			return fmt.Sprintf("it also changes %s in %s; with --overlay, %s gets a patch of its own", other.Object, other.Object.File.Path, at.Object)
		}
	}
	return ""
}

// container plans one container.
func (pl *planner) container(p *plan, places []*place, guaranteed bool, object *tree.Object, at *tree.Placement) {
	refuse := func(of *place, line int, reason string) {
		pl.refused = append(pl.refused, tree.Refusal{File: of.file.Path, Line: line, Object: fmt.Sprintf("%s container %s", object, p.container), Reason: reason})
	}
	for _, of := range places {
		if line, reason := of.refused(); reason != "" {
			refuse(of, line, reason)
			return
		}
	}
	if !pl.decide(p, places, guaranteed, func(reason string) { refuse(places[len(places)-1], places[len(places)-1].line(), reason) }) {
		return
	}
	if at.Partial && unbounded(written(places), p.changes) {
		of := places[len(places)-1]
		refuse(of, of.line(), "it is a patch for an object that is not in the directory, and whose limits or requests are unknown: name a directory that has both")
		return
	}
	found, of, reason := targets(places, p.changes)
	switch {
	case of == nil:
		p.targets = found
	case pl.overlay != "" && at.Root == pl.overlay && at.Inner:
		refuse(of, of.line(), "a patch in "+at.Root+" would change the overlays that include it, too")
		return
	case pl.overlay != "" && at.Root == pl.overlay:
		p.patch = object
		p.in, p.before = position(at, p.container)
	default:
		refuse(of, of.line(), reason)
		return
	}
	pl.plans = append(pl.plans, p)
}

// unbounded reports whether changes to a part of the resources may conflict with the rest: a limit must not be below its request.
func unbounded(has size.Container, changes []size.Change) bool {
	return slices.ContainsFunc(changes, func(c size.Change) bool {
		of := has[c.Of.Index]
		return of.Request == "" || of.Limit == "" && c.New > c.Old
	})
}

// decide fills in what changes, and reports whether anything does.
func (pl *planner) decide(p *plan, places []*place, guaranteed bool, refuse func(reason string)) bool {
	needs := p.workload.containers[p.container]
	if needs.conflict != "" {
		refuse(needs.conflict)
		return false
	}
	has := written(places)
	for _, m := range sizing.Measures {
		changes, kept, err := size.Of(m, has[m.Index], &needs.needs[m.Index], guaranteed, pl.rules)
		if err != nil {
			refuse(err.Error())
			return false
		}
		if kept != "" {
			pl.kept = append(pl.kept, fmt.Sprintf("%s, container %s: %s", p.workload, p.container, kept))
		}
		p.changes = append(p.changes, changes...)
	}
	return len(p.changes) > 0
}
