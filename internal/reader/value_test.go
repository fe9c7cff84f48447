package reader

import (
	"math"
	"strings"
	"testing"
)

// valueOf returns the value of the only key of a document.
func valueOf(t *testing.T, text string) (value Value) {
	t.Helper()
	content, ok := new(Reader).Read([]byte(text))
	if !ok || !content.Each(func(_ string, v Value) { value = v }) {
		t.Fatalf("%q cannot be read: %q", text, content.reader.Faults)
	}
	return value
}

func TestValue(t *testing.T) {
	t.Run("reads values by their type", readsValuesByTheirType)
	t.Run("counts an explicit null as a document", countsAnExplicitNullAsADocument)
	t.Run("quotes a key that could be read as two", quotesAKeyThatCouldBeReadAsTwo)
	t.Run("reports whether the visited values have faults", reportsWhetherTheVisitedValuesHaveFaults)
	t.Run("reads only the first of too many entries", readsOnlyTheFirstOfTooManyEntries)
}

func readsValuesByTheirType(t *testing.T) {
	none := math.NaN() // Not a number.
	for _, tc := range []struct {
		name, text string
		isText     bool
		number     float64
		described  string
	}{
		{"a string", "a: b", true, none, `"b"`},
		{"an empty string", `a: ""`, true, none, `""`},
		{"null", "a:", false, none, "an empty value"},
		{"an explicit null", "a: ~", false, none, `"~"`},
		{"a whole number", "a: 12", true, 12, `"12"`},
		{"a fraction", "a: 0.5", true, 0.5, `"0.5"`},
		{"infinity", "a: -.inf", true, math.Inf(-1), `"-.inf"`},
		{"not a number", "a: .nan", true, none, `".nan"`},
		{"a quoted number is a string", `a: "12"`, true, none, `"12"`},
		{"a Boolean is read as text", "a: true", true, none, `"true"`},
		{"a string tagged as an integer", "a: !!int b", true, none, `"b"`},
		{"a string tagged as a float", "a: !!float b", true, none, `"b"`},
		{"a list", "a: [1]", false, none, "a list"},
		{"a list tagged as an integer", "a: !!int [1]", false, none, "a list"},
		{"a mapping", "a: {b: 1}", false, none, "a mapping"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := valueOf(t, tc.text)
			if _, ok := v.Text(); ok != tc.isText || v.String() != tc.described {
				t.Errorf("is text: %t, described as %s, want %t, %s", ok, v, tc.isText, tc.described)
			}
			number, ok := v.Number()
			if isNumber := !math.IsNaN(tc.number); ok != isNumber || ok && number != tc.number {
				t.Errorf("number %v, %t, want %v", number, ok, tc.number)
			}
		})
	}
}

func countsAnExplicitNullAsADocument(t *testing.T) {
	if all, faults := read("---\n---\na: 1\n---\n"); len(faults) > 0 || len(all) != 1 || all[0] != `a "1"` {
		t.Errorf("one document among empty ones: %q, %q", all, faults)
	}
	if all, faults := read("~\n---\na: 1"); len(faults) != 1 {
		t.Errorf("two documents: %q, %q", all, faults)
	}
}

func quotesAKeyThatCouldBeReadAsTwo(t *testing.T) {
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

func reportsWhetherTheVisitedValuesHaveFaults(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       bool
	}{
		{"a mapping", "a: {b: 1}", true},
		{"a list", "a: [1]", true},
		{"null", "a:", true},
		{"a scalar", "a: b", false},
		{"a fault within a mapping", "a: {bad: 1}", false},
		{"a fault within a list", "a: [bad]", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := valueOf(t, tc.text)
			v.Fault("an earlier fault")
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
				t.Errorf("no fault: %t, faults %q", got, v.reader.Faults)
			}
		})
	}
}

func readsOnlyTheFirstOfTooManyEntries(t *testing.T) {
	for entries, want := range map[int]bool{mostEntries - 1: false, mostEntries: true} {
		var r Reader
		content, _ := r.Read([]byte("[" + strings.Repeat("1,", entries) + "]"))
		visited := 0
		content.Items(func(Value) { visited++ })
		if visited != mostEntries-1 || r.Spent() != want || (len(r.Faults) == 1) != want {
			t.Errorf("%d entries: read %d, too many: %t, faults %q", entries, visited, r.Spent(), r.Faults)
		}
	}
}
