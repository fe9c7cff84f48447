package reader

import (
	"math"
	"strings"
	"testing"
)

// valueOf is what the key a has in a document.
func valueOf(t *testing.T, text string) (value Value) {
	t.Helper()
	content, ok := new(Reader).Read([]byte(text))
	if !ok || !content.Each(func(_ string, v Value) { value = v }) {
		t.Fatalf("%q cannot be read: %q", text, content.reader.Faults)
	}
	return value
}

func TestValue(t *testing.T) {
	t.Run("what a value is", whatAValueIs)
	t.Run("nothing written out is a document", nothingWrittenOutIsADocument)
	t.Run("a key that could be taken for two is in quotes", aKeyThatCouldBeTakenForTwoIsInQuotes)
	t.Run("whether all is well is told of what was visited", whetherAllIsWellIsToldOfWhatWasVisited)
	t.Run("of too many entries the first are read", ofTooManyEntriesTheFirstAreRead)
}

func whatAValueIs(t *testing.T) {
	none := math.NaN() // No number.
	for _, tc := range []struct {
		name, text string
		isText     bool
		number     float64
		described  string
	}{
		{"a text", "a: b", true, none, `"b"`},
		{"an empty text", `a: ""`, true, none, `""`},
		{"nothing", "a:", false, none, "nothing"},
		{"nothing, written out", "a: ~", false, none, `"~"`},
		{"a whole number", "a: 12", true, 12, `"12"`},
		{"a fraction", "a: 0.5", true, 0.5, `"0.5"`},
		{"infinity", "a: -.inf", true, math.Inf(-1), `"-.inf"`},
		{"no number at all", "a: .nan", true, none, `".nan"`},
		{"a number in quotes is a text", `a: "12"`, true, none, `"12"`},
		{"so is a truth", "a: true", true, none, `"true"`},
		{"what only says that it is whole", "a: !!int b", true, none, `"b"`},
		{"what only says that it is a fraction", "a: !!float b", true, none, `"b"`},
		{"a list", "a: [1]", false, none, "a list"},
		{"a list that says that it is a number", "a: !!int [1]", false, none, "a list"},
		{"a mapping", "a: {b: 1}", false, none, "a mapping"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := valueOf(t, tc.text)
			if _, ok := v.Text(); ok != tc.isText || v.String() != tc.described {
				t.Errorf("a text: %t, described as %s, want %t, %s", ok, v, tc.isText, tc.described)
			}
			number, ok := v.Number()
			if isNumber := !math.IsNaN(tc.number); ok != isNumber || ok && number != tc.number {
				t.Errorf("number %v, %t, want %v", number, ok, tc.number)
			}
		})
	}
}

func nothingWrittenOutIsADocument(t *testing.T) {
	if all, faults := read("---\n---\na: 1\n---\n"); len(faults) > 0 || len(all) != 1 || all[0] != `a "1"` {
		t.Errorf("of one among empty ones: %q, %q", all, faults)
	}
	if all, faults := read("~\n---\na: 1"); len(faults) != 1 {
		t.Errorf("of one after another: %q, %q", all, faults)
	}
}

func aKeyThatCouldBeTakenForTwoIsInQuotes(t *testing.T) {
	for key, want := range map[string]string{
		"": `at[""]`, "azAZ09": "at.azAZ09", "a-b_c/d": "at.a-b_c/d",
		"a.b": `at["a.b"]`, "a:b": `at["a:b"]`, "@a": `at["@a"]`, "[a": `at["[a"]`, "`": "at[\"`\"]", "{": `at["{"]`, "a b": `at["a b"]`,
	} {
		if got := Join("at", key); got != want {
			t.Errorf("Join of %q is %s, want %s", key, got, want)
		}
	}
	if got := Join("", "a"); got != "a" {
		t.Errorf("the first key is %q", got)
	}
}

func whetherAllIsWellIsToldOfWhatWasVisited(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       bool
	}{
		{"a mapping", "a: {b: 1}", true},
		{"a list", "a: [1]", true},
		{"nothing", "a:", true},
		{"neither", "a: b", false},
		{"a fault within a mapping", "a: {bad: 1}", false},
		{"a fault within a list", "a: [bad]", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := valueOf(t, tc.text)
			v.Fault("a fault from before")
			visit := func(item Value) {
				if strings.Contains(item.Path+item.node.Value, "bad") {
					item.Fault("bad")
				}
			}
			got := v.Items(visit)
			if strings.Contains(tc.name, "mapping") {
				got = v.Each(func(_ string, item Value) { visit(item) })
			}
			if got != tc.want {
				t.Errorf("all is well: %t, faults %q", got, v.reader.Faults)
			}
		})
	}
}

func ofTooManyEntriesTheFirstAreRead(t *testing.T) {
	for entries, want := range map[int]bool{mostEntries - 1: false, mostEntries: true} {
		var r Reader
		content, _ := r.Read([]byte("[" + strings.Repeat("1,", entries) + "]"))
		visited := 0
		content.Items(func(Value) { visited++ })
		if visited != mostEntries-1 || r.Spent() != want || (len(r.Faults) == 1) != want {
			t.Errorf("of %d entries %d are read, too many: %t, faults %q", entries, visited, r.Spent(), r.Faults)
		}
	}
}
