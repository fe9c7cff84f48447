package export

import (
	"fmt"
	"path"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/edit"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/tree"
)

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

// patchText returns a strategic merge patch with the amounts of a workload's containers.
func patchText(group []*plan) []byte {
	object := group[0].patch
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", edit.Value(object.Node, "apiVersion").Value, object.Kind, object.Name)
	if object.Namespace != "" {
		fmt.Fprintf(&b, "  namespace: %s\n", object.Namespace)
	}
	indent := ""
	for _, key := range tree.Keys(object.Kind) {
		fmt.Fprintf(&b, "%s%s:\n", indent, key)
		indent += "  "
	}
	for _, in := range tree.Lists {
		first := true
		for _, p := range group {
			if p.in != in {
				continue
			}
			if first {
				fmt.Fprintf(&b, "%s%s:\n", indent, in)
				first = false
			}
			fmt.Fprintf(&b, "%s- name: %s\n%s  resources:\n", indent, p.container, indent)
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
