package export

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/edit"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/size"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/tree"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// place is where a file has, or can have, the resources of a container.
type place struct {
	file *tree.File
	doc  *edit.Document
	// holder is the mapping that has them under key. through are the nodes that lead to it.
	holder  *yaml.Node
	key     string
	through []*yaml.Node
	// behind are the keys after which they are inserted, the first that exists.
	behind []string
	// shared is why an edit there would change more than the workload; empty if it would not.
	shared string
}

const twice = "its key is there twice"

var fields = [...]string{"requests", "limits"}

func (p *place) resources() *yaml.Node { return edit.Value(p.holder, p.key) }

// amount returns the node that has an amount; nil if none has.
func (p *place) amount(field, name string) *yaml.Node {
	return edit.Value(edit.Value(p.resources(), field), name)
}

// refused returns why the resources cannot be edited, and the line; empty if they can be.
func (p *place) refused() (line int, reason string) {
	aliased := func(n *yaml.Node) (int, string) {
		return p.doc.Line(n), "an alias (& or *) uses it in several places"
	}
	for _, n := range append(p.through, p.holder) {
		if p.doc.Aliased(n) {
			return aliased(n)
		}
	}
	resources := p.resources()
	if resources == nil && edit.Merges(p.holder) {
		return p.doc.Line(p.holder), "it is merged (<<) with another mapping"
	}
	if marked := edit.Value(p.holder, "$patch"); marked != nil {
		return p.doc.Line(marked), "its patch replaces or deletes it ($patch)"
	}
	if resources == nil {
		return 0, ""
	}
	if second := edit.Twice(p.holder, p.key); second != nil {
		return p.doc.Line(second), twice
	}
	nodes := []*yaml.Node{resources}
	for _, field := range fields {
		if amounts := edit.Value(resources, field); amounts != nil {
			nodes = append(nodes, amounts)
		}
	}
	for _, n := range nodes {
		second := edit.Twice(n, "requests", "limits", sizing.CPU.Name, sizing.Memory.Name)
		switch {
		case second != nil:
			return p.doc.Line(second), twice
		case p.doc.Aliased(n):
			return aliased(n)
		case edit.Merges(n):
			return p.doc.Line(n), "it is merged (<<) with another mapping"
		case n.Kind != yaml.MappingNode && !edit.Empty(n):
			return p.doc.Line(n), "its resources are not a mapping"
		case edit.Value(n, "$patch") != nil:
			return p.doc.Line(n), "its patch replaces or deletes it ($patch)"
		}
		for _, m := range sizing.Measures {
			switch amount := edit.Value(n, m.Name); {
			case amount == nil:
			case p.doc.Aliased(amount):
				return aliased(amount)
			case amount.Kind != yaml.ScalarNode || amount.Tag == "!!null":
				return p.doc.Line(amount), m.Name + " is not an amount"
			case amount.Tag == "!!int" && len(amount.Value) > 1 && amount.Value[0] == '0':
				return p.doc.Line(amount), fmt.Sprintf("YAML reads %s as an octal number", amount.Value)
			}
		}
	}
	return 0, ""
}

// line returns the line of the resources, or of the container.
func (p *place) line() int {
	if key, _ := edit.Find(p.holder, p.key); key != nil {
		return p.doc.Line(key)
	}
	return p.doc.Line(p.holder)
}

// written returns what places say together. A later one takes precedence.
func written(places []*place) (c size.Container) {
	for _, p := range places {
		for _, m := range sizing.Measures {
			if n := p.amount("requests", m.Name); n != nil {
				c[m.Index].Request = n.Value
			}
			if n := p.amount("limits", m.Name); n != nil {
				c[m.Index].Limit = n.Value
			}
		}
	}
	return c
}

// effective returns the index of the place whose amount counts; -1 if there is none.
func effective(places []*place, field, name string) int {
	for i := len(places) - 1; i >= 0; i-- {
		if places[i].amount(field, name) != nil {
			return i
		}
	}
	return -1
}

// target is where a change is made: to a node that exists, or in a place that gets one.
type target struct {
	place *place
	node  *yaml.Node
}

// targets finds where the changes are made. It returns why that is not possible, with the place that prevents it.
func targets(places []*place, changes []size.Change) (found []target, at *place, reason string) {
	for i := range changes {
		c := &changes[i]
		of := effective(places, c.Field(), c.Of.Name)
		if of >= 0 && places[of].shared == "" {
			found = append(found, target{places[of], places[of].amount(c.Field(), c.Of.Name)})
			continue
		}
		to := insertion(places, max(of, 0), c.Field())
		if to == nil {
			return nil, places[max(of, 0)], places[max(of, 0)].shared
		}
		found = append(found, target{place: to})
	}
	return found, nil, ""
}

// insertion returns the place to insert an amount that counts: the last that has the field, or resources, or the
// container; nil if none is for the workload alone.
func insertion(places []*place, from int, field string) *place {
	for _, suits := range []func(*place) bool{
		func(p *place) bool { return edit.Value(p.resources(), field) != nil },
		func(p *place) bool { return p.resources() != nil },
	} {
		for i := len(places) - 1; i >= from; i-- {
			if places[i].shared == "" && suits(places[i]) {
				return places[i]
			}
		}
	}
	for _, p := range places[from:] {
		if p.shared == "" {
			return p
		}
	}
	return nil
}

// make makes the changes. If one of them is not possible, none is made.
func (p *plan) make() error {
	marks := map[*edit.Document]int{}
	for _, t := range p.targets {
		if _, known := marks[t.place.doc]; !known {
			marks[t.place.doc] = t.place.doc.Mark()
		}
	}
	err := p.makeAll()
	if err != nil {
		for doc, mark := range marks {
			doc.Undo(mark)
		}
	}
	return err
}

func (p *plan) makeAll() error {
	missing := map[*place]map[string][]edit.Entry{}
	for i, t := range p.targets {
		c := &p.changes[i]
		if t.node == nil {
			if missing[t.place] == nil {
				missing[t.place] = map[string][]edit.Entry{}
			}
			entry := edit.Entry{Key: c.Of.Name, Value: t.place.quoted(c.To)}
			missing[t.place][c.Field()] = append(missing[t.place][c.Field()], entry)
			continue
		}
		set := t.place.doc.Set
		if t.place.doc.JSON() {
			set = t.place.doc.SetQuoted
		}
		if err := set(t.node, c.To); err != nil {
			return err
		}
	}
	for place, entries := range missing {
		if err := place.insert(entries); err != nil {
			return err
		}
	}
	return nil
}

// insert adds amounts that are missing, by field.
func (p *place) insert(amounts map[string][]edit.Entry) error {
	resources := p.resources()
	var whole []edit.Entry
	for _, field := range fields {
		entries := amounts[field]
		if len(entries) == 0 {
			continue
		}
		of := edit.Value(resources, field)
		switch {
		case of == nil:
			whole = append(whole, edit.Entry{Key: field, Entries: entries})
			continue
		case edit.Empty(of):
			if err := p.doc.Fill(resources, field, entries); err != nil {
				return err
			}
			continue
		}
		if err := p.doc.Add(of, "", entries...); err != nil {
			return err
		}
	}
	switch {
	case len(whole) == 0:
		return nil
	case resources == nil:
		behind := ""
		for _, name := range p.behind {
			if edit.Value(p.holder, name) != nil {
				behind = name
				break
			}
		}
		return p.doc.Add(p.holder, behind, edit.Entry{Key: p.key, Entries: whole})
	case edit.Empty(resources):
		return p.doc.Fill(p.holder, p.key, whole)
	}
	return p.doc.Add(resources, "", whole...)
}

// quoted returns an amount in the quotes of the other amounts of the container.
func (p *place) quoted(amount string) string {
	for _, field := range fields {
		for _, m := range sizing.Measures {
			n := p.amount(field, m.Name)
			if n == nil {
				continue
			}
			switch {
			case n.Style&yaml.DoubleQuotedStyle != 0:
				return `"` + amount + `"`
			case n.Style&yaml.SingleQuotedStyle != 0:
				return "'" + amount + "'"
			}
			return amount
		}
	}
	return amount
}

// names joins names for people.
func names(all []string) string { return strings.Join(all, ", ") }
