package policy

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/policy/keys"
)

var update = flag.Bool("update", false, "rewrite the tables of the reference")

func TestReference(t *testing.T) {
	const reference = "../docs/reference.md"
	content, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	want := string(content)
	for name, table := range map[string]string{
		"demand": keys.Table[Demand](), "prices": keys.Table[Prices](), "guard": keys.Table[Guard](),
		"objectives": keys.Table[Objective](), "schedule": keys.Table[window](), "pace": keys.Table[Pace](),
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
