package export

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/edit"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/tree"
)

// position returns which list has a container once all patches are applied, and the containers in front of it. Kustomize
// moves what a patch has to the front.
func position(at *tree.Placement, container string) (in string, before []string) {
	for _, in := range tree.Lists {
		var all []string
		for _, o := range append([]*tree.Object{at.Object}, at.Patches...) {
			names, removed := o.Names(in)
			all = slices.DeleteFunc(all, func(name string) bool { return slices.Contains(names, name) || slices.Contains(removed, name) })
			all = append(names, all...)
		}
		if n := slices.Index(all, container); n >= 0 {
			return in, all[:n]
		}
	}
	return tree.Lists[0], nil
}

// patches adds the patches that plans need to the overlay. It returns the new files by path, or why the kustomization
// of the overlay cannot be changed.
func (pl *planner) patches() (map[string][]byte, *tree.Refusal) {
	var groups [][]*plan
	of := map[*workload]int{}
	for _, p := range pl.plans {
		if p.patch == nil {
			continue
		}
		n, known := of[p.workload]
		if !known {
			n = len(groups)
			of[p.workload] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], p)
	}
	if len(groups) == 0 {
		return nil, nil
	}
	f, doc := pl.tree.Overlay(pl.overlay)
	if f.Refused != nil {
		pl.plans = slices.DeleteFunc(pl.plans, func(p *plan) bool { return p.patch != nil })
		for _, group := range groups {
			o := group[0].patch
			pl.refused = append(pl.refused, o.Refuse(o.Line(), "it needs a patch, which "+f.Path+" cannot list"))
		}
		return nil, nil
	}
	var entries []string
	added := map[string][]byte{}
	for _, group := range groups {
		name := pl.patchName(group[0].workload, added)
		added[path.Join(pl.overlay, name)] = patchText(group)
		entries = append(entries, name)
	}
	if err := list(doc, entries); err != nil {
		refused := refusalOf(f.Path, "", err)
		return nil, &refused
	}
	return added, nil
}

// patchName returns the name of a file that does not exist.
func (pl *planner) patchName(w *workload, added map[string][]byte) string {
	base := "resizer-" + strings.ToLower(w.kind) + "-" + w.name
	for n := 1; ; n++ {
		name := base + ".yaml"
		if n > 1 {
			name = fmt.Sprintf("%s-%d.yaml", base, n)
		}
		at := path.Join(pl.overlay, name)
		if _, taken := added[at]; !taken && pl.tree.Files[at] == nil {
			return name
		}
	}
}

// list adds patches to a kustomization.
func list(doc *edit.Document, files []string) error {
	items := make([][]edit.Entry, len(files))
	for i, name := range files {
		items[i] = []edit.Entry{{Key: "path", Value: name}}
	}
	if patches := edit.Value(doc.Root, "patches"); patches != nil {
		return doc.AddItems(patches, items)
	}
	return doc.Add(doc.Root, "", edit.Entry{Key: "patches", Items: items})
}

// patchText returns a strategic merge patch with the amounts of a workload's containers. It names those in front of them, too,
// so that they stay in their order: the first one is what "kubectl logs" shows.
func patchText(group []*plan) []byte {
	object := group[0].patch
	var b strings.Builder
	if version := edit.Value(object.Node, "apiVersion"); version != nil {
		fmt.Fprintf(&b, "apiVersion: %s\n", scalar(version.Value))
	}
	fmt.Fprintf(&b, "kind: %s\nmetadata:\n  name: %s\n", scalar(object.Kind), scalar(object.Name))
	if object.Namespace != "" {
		fmt.Fprintf(&b, "  namespace: %s\n", scalar(object.Namespace))
	}
	indent := ""
	for _, key := range tree.Keys(object.Kind) {
		fmt.Fprintf(&b, "%s%s:\n", indent, key)
		indent += "  "
	}
	for _, in := range tree.Lists {
		var order []string
		of := map[string]*plan{}
		for _, p := range group {
			if p.in == in {
				of[p.container] = p
				if len(p.before) >= len(order) {
					order = append(slices.Clone(p.before), p.container)
				}
			}
		}
		if len(order) > 0 {
			fmt.Fprintf(&b, "%s%s:\n", indent, in)
		}
		for _, name := range order {
			fmt.Fprintf(&b, "%s- name: %s\n", indent, scalar(name))
			p := of[name]
			if p == nil {
				continue
			}
			fmt.Fprintf(&b, "%s  resources:\n", indent)
			for _, field := range fields {
				head := false
				for i := range p.changes {
					c := &p.changes[i]
					if c.Field() != field {
						continue
					}
					if !head {
						fmt.Fprintf(&b, "%s    %s:\n", indent, field)
						head = true
					}
					fmt.Fprintf(&b, "%s      %s: %q\n", indent, c.Of.Name, c.To)
				}
			}
		}
	}
	return []byte(b.String())
}

// plain are texts that need no quotes, unless YAML reads them as something else.
var plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9./_-]*$`)

// scalar writes text in YAML. Older parsers read words such as "on" as booleans.
func scalar(text string) string {
	n := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if !plain.MatchString(text) || n.ShortTag() != "!!str" || slices.Contains([]string{"y", "n", "yes", "no", "on", "off"}, strings.ToLower(text)) {
		return strconv.Quote(text)
	}
	return text
}
