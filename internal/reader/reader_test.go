package reader

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// walk visits all scalars up to a number of levels deep, in the order of the text. Callers must
// limit the depth: a value that contains itself has no end.
func walk(v Value, levels int, visit func(Value)) {
	switch {
	case levels == 0:
	case v.node.Kind == yaml.MappingNode:
		v.Each(func(_ string, v Value) { walk(v, levels-1, visit) })
	case v.node.Kind == yaml.SequenceNode:
		v.Items(func(v Value) { walk(v, levels-1, visit) })
	default:
		visit(v)
	}
}

func read(text string) (all []string, faults Faults) {
	var r Reader
	content, ok := r.Read([]byte(text))
	if ok {
		walk(content, 20, func(v Value) { all = append(all, v.Path+" "+v.String()) })
	}
	return all, r.Faults
}

func TestReader(t *testing.T) {
	t.Run("reads a document in its order", readsADocumentInItsOrder)
	t.Run("reports faults with their paths and lines", reportsFaultsWithTheirPathsAndLines)
	t.Run("names the line of a fault between values", namesTheLineOfAFaultBetweenValues)
	t.Run("names the key that was meant", namesTheKeyThatWasMeant)
	t.Run("limits what aliases expand to", limitsWhatAliasesExpandTo)
}

func readsADocumentInItsOrder(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"an empty text", "", []string{" an empty value"}},
		{"a comment", "# empty\n---\n", []string{" an empty value"}},
		{"order of the text", "b: 1\na: [x, {c: }]", []string{`b "1"`, `a[0] "x"`, "a[1].c an empty value"}},
		{"keys that could be read as two", `a.b: {"": 1, c/d: 2}`, []string{`["a.b"][""] "1"`, `["a.b"].c/d "2"`}},
		{"keys of any type", "{true: 1, 2: 2, ~: 3}", []string{`true "1"`, `2 "2"`, `["~"] "3"`}},
		{"an alias", "a: &a {b: 1}\nc: *a", []string{`a.b "1"`, `c.b "1"`}},
		{"a merge", "a: &a {b: 1, c: 2}\nd: {<<: *a, c: 3}", []string{`a.b "1"`, `a.c "2"`, `d.c "3"`, `d.b "1"`}},
		{"several merges", "a: [&a {b: 1}, &b {b: 2, c: 3}]\nd: {<<: [*a, *b], e: 4}", []string{`a[0].b "1"`, `a[1].b "2"`, `a[1].c "3"`, `d.e "4"`, `d.b "1"`, `d.c "3"`}},
		{"a merge of merges", "a: &a {b: 1}\nc: &c {<<: *a}\nd: {<<: *c}", []string{`a.b "1"`, `c.b "1"`, `d.b "1"`}},
		{"a key that only looks like a merge", `{"<<": {a: 1}}`, []string{`["<<"].a "1"`}},
		{"a URL", "a: https://ann:secret@example.com", []string{"a a URL"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, faults := read(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" || len(faults) > 0 {
				t.Errorf("%v %s", faults, diff)
			}
		})
	}
}

func reportsFaultsWithTheirPathsAndLines(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       Faults
	}{
		{"not YAML", "a: [", Faults{"read YAML: yaml: line 1: did not find expected node content"}},
		{"a second document", "a: 1\n---\nb: 2", Faults{"must be one YAML document, but more content follows ---"}},
		{"a key that is set twice", "a:\n  b: 1\n  b: 2", Faults{"a.b: line 3: set twice"}},
		{"two merges", "a: &a {b: 1}\nc:\n  <<: *a\n  <<: *a", Faults{`c["<<"]: line 4: set twice`}},
		{"a key that is not a scalar", "a:\n  ? [b]\n  : c", Faults{"a: line 2: key must be a scalar, not a list"}},
		{"a merge of a scalar", "a:\n  <<: b", Faults{`a: line 2: must be a mapping, not "b"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, faults := read(tc.text); !slices.Equal(faults, tc.want) {
				t.Errorf("got  %q\nwant %q", faults, tc.want)
			}
		})
	}
}

func namesTheLineOfAFaultBetweenValues(t *testing.T) {
	var r Reader
	content, _ := r.Read([]byte("a: &a\n  b:\n    c: 1\n\"d.e\":\n- f: 1\n- *a\n"))
	walk(content, 20, func(Value) {})
	for _, path := range []string{"a", "a.b.c", "a.b.missing", `["d.e"][0].f`, `["d.e"][1].b.x.y`, `["d.e"][0]["g.h"]`, "missing.b", ""} {
		r.Fault(path, "%s", "wrong")
	}
	want := Faults{"a: line 1: wrong", "a.b.c: line 3: wrong", "a.b.missing: line 3: wrong", `["d.e"][0].f: line 5: wrong`, `["d.e"][1].b.x.y: line 3: wrong`,
		`["d.e"][0]["g.h"]: line 5: wrong`, "missing.b: wrong", "wrong"}
	if diff := cmp.Diff(want, r.Faults); diff != "" {
		t.Error(diff)
	}
}

func namesTheKeyThatWasMeant(t *testing.T) {
	known := Known{"atMost": func(Value) {}, "cpu": func(Value) {}, "on": func(Value) {}}
	for key, want := range map[string]string{
		"atmost": "atMost", "atMsot": "atMost", "atMos": "atMost", "atMosts": "atMost", "cpus": "cpu", "cqu": "cpu", "ATMOST": "atMost",
		"of": "", "most": "", "at": "", "memory": "", "": "", "cp": "cpu", "ucp": "",
	} {
		var r Reader
		content, ok := r.Read(fmt.Appendf(nil, "%q: 1", key))
		if want != "" {
			want = "; did you mean " + want + "?"
		}
		if got := Join("", key) + ": line 1: unknown key" + want; !ok || content.Fields(known) || !slices.Equal(r.Faults, Faults{got}) {
			t.Errorf("%q, want %q", r.Faults, got)
		}
	}
}

func limitsWhatAliasesExpandTo(t *testing.T) {
	for _, text := range []string{
		"a: &a [*a, *a]", "a: &a {b: *a, c: *a}", "a: &a {<<: *a}", "a: &a {<<: [*a, *a]}",
		"- &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + strings.Join(levels(), "\n"),
	} {
		if _, faults := read(text); !slices.Equal(faults, Faults{"more than 99999 entries, aliases followed"}) {
			t.Errorf("%.20s: faults %q", text, faults)
		}
	}
}

// levels returns lists, each of which contains the previous one ten times.
func levels() (all []string) {
	for i := range 9 {
		all = append(all, fmt.Sprintf("- &%c [%s]", 'b'+i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", 'a'+i), 10), ", ")))
	}
	return all
}

// FuzzRead looks for text that the YAML library reads differently.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"", "a: [1, {b: c}]", "a: &a {b: 1}\nc: {<<: *a, b: 2}", "a: &a {b: 1}\nc: {<<: [*a, {d: 1}]}", "a: &a [*a]", "~", "1: 2", "{<<: }", "? [a]\n: b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r Reader
		content, ok := r.Read([]byte(text))
		if !ok {
			return
		}
		got := plain(content, 20)
		var want any
		if err := yaml.Unmarshal([]byte(text), &want); err != nil || len(r.Faults) > 0 || !hasOnlyTexts(want) {
			return
		}
		// An empty document may come first.
		if got, want := fmt.Sprint(got), fmt.Sprint(want); got != want && want != "<nil>" {
			t.Errorf("read %s, want %s", got, want)
		}
	})
}

// plain returns what the library would read, up to a number of levels deep.
func plain(v Value, levels int) (content any) {
	switch {
	case levels == 0:
		v.Fault("too deep")
	case v.node.Kind == yaml.MappingNode:
		all := map[string]any{}
		v.Each(func(key string, v Value) { all[key] = plain(v, levels-1) })
		return all
	case v.node.Kind == yaml.SequenceNode:
		all := []any{}
		v.Items(func(v Value) { all = append(all, plain(v, levels-1)) })
		return all
	default:
		if err := v.node.Decode(&content); err != nil {
			v.Fault("%v", err)
		}
	}
	return content
}

// hasOnlyTexts reports whether all keys are strings.
func hasOnlyTexts(content any) bool {
	switch content := content.(type) {
	case map[any]any:
		return false
	case map[string]any:
		for _, value := range content {
			if !hasOnlyTexts(value) {
				return false
			}
		}
	case []any:
		return !slices.ContainsFunc(content, func(item any) bool { return !hasOnlyTexts(item) })
	}
	return true
}
