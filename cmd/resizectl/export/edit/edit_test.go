package edit

import (
	"bytes"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// seeds are documents of every style.
var seeds = []string{
	"a: 1\nb:\n  c: \"x\" # d\n  e: 'y'\n",
	"{a: 1, \"b\": [x, 'y', \"z\"], c: {d: e}}",
	"{\n  \"a\": {\n    \"b\": 1\n  },\n  \"c\": []\n}\n",
	"%YAML 1.1\n---\na: &x 1\nb: *x\n--- # two\n- a: !!str 1\n- - b\n...\n",
	"a: |\n  text\n  more\nb: >-\n  folded\n\nc: \"long\n  text\"\n",
	"\uFEFFa: ü\nü: b\n", "a: 1\r\nb:\r\n  c: 2", "? a\n: b\n", "a:\nb: ~\nc: {}\n", "- a\n-\n  b: c\n", "<<: {a: b}\nc: d\n", "a: 1\u2028b: 2\n", "# only\n", "000\n0\n---\n---", "a: 'it''s'\nb: \"\\n\"\n",
}

// scalars returns all scalars of a document.
func scalars(n *yaml.Node) (all []*yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		all = append(all, n)
	}
	for _, inner := range n.Content {
		all = append(all, scalars(inner)...)
	}
	return all
}

func mappings(n *yaml.Node) (all []*yaml.Node) {
	if n.Kind == yaml.MappingNode {
		all = append(all, n)
	}
	for _, inner := range n.Content {
		all = append(all, mappings(inner)...)
	}
	return all
}

// FuzzSet gives one scalar of any text a new value. All other bytes must stay, and the documents must have the value.
func FuzzSet(f *testing.F) {
	for _, seed := range seeds {
		for n := range 4 {
			f.Add([]byte(seed), uint(n))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint) {
		file, _ := Parse(text, nil)
		for _, d := range file.Documents() {
			all := scalars(d.Root)
			if len(all) == 0 {
				continue
			}
			n := all[which%uint(len(all))]
			if d.Set(n, "resized") != nil {
				continue
			}
			changed, err := file.Bytes()
			if err != nil {
				return // It was refused.
			}
			at := 0
			for at < len(text) && at < len(changed) && text[at] == changed[at] {
				at++
			}
			end := 0
			for end < len(text)-at && end < len(changed)-at && text[len(text)-1-end] == changed[len(changed)-1-end] {
				end++
			}
			if removed, added := text[at:len(text)-end], changed[at:len(changed)-end]; !bytes.Contains([]byte(n.Value), removed) || !bytes.Contains([]byte("resized"), added) {
				t.Fatalf("%q became %q", text, changed)
			}
			again, faults := Parse(changed, nil)
			if len(faults) > 0 && len(again.Documents()) != len(file.Documents()) {
				t.Fatalf("%q became %q: %v", text, changed, faults)
			}
			i := slices.Index(file.Documents(), d)
			if got := scalars(again.Documents()[i].Root); got[which%uint(len(all))].Value != "resized" {
				t.Fatalf("%q became %q", text, changed)
			}
			return
		}
	})
}

// FuzzAdd adds entries to a mapping of any text. No byte may go, and the documents must have them.
func FuzzAdd(f *testing.F) {
	for _, seed := range seeds {
		for n := range 3 {
			f.Add([]byte(seed), uint(n))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint) {
		file, _ := Parse(text, nil)
		for _, d := range file.Documents() {
			all := mappings(d.Root)
			if len(all) == 0 {
				continue
			}
			n := int(which % uint(len(all)))
			if d.Add(all[n], "", Entry{Key: "resources", Entries: []Entry{{Key: "requests", Entries: []Entry{{Key: "cpu", Value: "1m"}}}}}) != nil {
				continue
			}
			changed, err := file.Bytes()
			if err != nil {
				return
			}
			rest := changed
			for _, c := range text { // The text is left, in the same order.
				at := bytes.IndexByte(rest, c)
				if at < 0 {
					t.Fatalf("%q became %q", text, changed)
				}
				rest = rest[at+1:]
			}
			again, _ := Parse(changed, nil)
			i := slices.Index(file.Documents(), d)
			m := mappings(again.Documents()[i].Root)[n]
			if found := Value(Value(Value(m, "resources"), "requests"), "cpu"); found == nil {
				t.Fatalf("%q became %q", text, changed)
			}
			return
		}
	})
}
