package estimate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// codes returns all constants of the type Code.
func codes(t *testing.T) []Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doubt.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []Code
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Code" {
				all = append(all, Code(spec.Names[0].Name))
			}
		}
		return true
	})
	return all
}

func TestReference(t *testing.T) {
	t.Run("the reference has every doubt", theReferenceHasEveryDoubt)
	t.Run("the reference has the weights of busy machines", theReferenceHasTheWeightsOfBusyMachines)
}

func theReferenceHasTheWeightsOfBusyMachines(t *testing.T) {
	content, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%.0f%% at a load of 15%%, %.0f%% at 30%%, and %.0f%% at 60%%", 100*calm(0.15), 100*calm(0.3), 100*calm(0.6))
	if !strings.Contains(string(content), want) {
		t.Errorf("the reference does not say %q", want)
	}
}

func theReferenceHasEveryDoubt(t *testing.T) {
	content, err := os.ReadFile("../../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(content), "\n| Reason | Meaning | A ratio that follows the suggestion |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	told := map[Code]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| .* \\| ([a-z ]+) \\|$").FindAllStringSubmatch(table, -1) {
		told[Code(row[1])] = row[2]
	}
	want := map[Code]string{}
	for _, code := range codes(t) {
		want[code] = "stays"
		if code.NotEnough() {
			want[code] = "goes back"
		}
	}
	if len(want) < 6 || !maps.Equal(told, want) {
		t.Errorf("the reference has %v, want %v", told, slices.Sorted(maps.Keys(want)))
	}
}
