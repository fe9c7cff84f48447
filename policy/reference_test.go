package policy

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/policy/keys"
)

var update = flag.Bool("update", false, "rewrite the tables of the reference")

// table returns the table of the keys of a section for the reference. Keys with the same description share a row.
func table[T any]() string {
	var rows [][3]string
	names := map[[3]string][]string{}
	for _, k := range keys.Declared[T]() {
		if k.Gone != "" {
			continue
		}
		row := [3]string{k.Values, k.Default, k.Meaning}
		if names[row] == nil {
			rows = append(rows, row)
		}
		names[row] = append(names[row], "`"+k.Name+"`")
	}
	var b strings.Builder
	b.WriteString("| Key | Values | Default | Meaning |\n|---|---|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.Join(names[row], ", "), row[0], row[1], row[2])
	}
	return b.String()
}

func TestReference(t *testing.T) {
	const reference = "../docs/reference.md"
	content, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	want := string(content)
	for name, table := range map[string]string{
		"demand": table[Demand](), "prices": table[Prices](), "guard": table[Guard](),
		"objectives": table[Objective](), "schedule": table[window](), "pace": table[Pace](), "startup": table[Startup](),
	} {
		begin, end := "<!-- begin keys of "+name+" -->\n", "<!-- end keys of "+name+" -->"
		before, rest, ok := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no place for the keys of %s", reference, name)
		}
		want = before + begin + table + end + after
	}
	if *update {
		if err := os.WriteFile(reference, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(content) {
		t.Errorf("%s is out of date: run make generate", reference)
	}
}
