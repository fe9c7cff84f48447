package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// axe is the source of axe-core, which finds what keeps people from using a page.
var axe = sync.OnceValues(func() (string, error) {
	root, err := localcluster.Root()
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(root, "bin", "axe.js"))
	return string(source), err
})

// finding is what axe-core finds.
type finding struct {
	ID, Impact, Help string
	Nodes            []struct {
		Target         []string
		FailureSummary string
	}
}

// accessible checks that axe-core finds nothing serious or critical.
func (b *tab) accessible(what string) {
	b.Helper()
	source, err := axe()
	if err != nil {
		b.Fatal(err)
	}
	js[bool](b, source+"; true")
	for _, f := range js[[]finding](b, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations)`) {
		var where []string
		for _, n := range f.Nodes {
			where = append(where, fmt.Sprint(n.Target, " ", n.FailureSummary))
		}
		text := fmt.Sprintf("%s: %s %s: %s\n%s", what, f.Impact, f.ID, f.Help, strings.Join(where[:min(3, len(where))], "\n"))
		if f.Impact == "serious" || f.Impact == "critical" {
			b.Error(text)
		} else {
			b.Log(text)
		}
	}
}
