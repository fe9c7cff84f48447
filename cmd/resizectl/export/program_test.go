package export

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/test/export/check"
)

var program = cmdtest.ProgramWith(NewCommand)

// item is a recommendation as "usage -o json" writes it.
type item map[string]any

// of returns the recommendation of a container in the namespace shop, which may be lowered.
func of(kind, name, container, cpu, memory string) item {
	return item{
		"namespace": "shop", "workload": item{"kind": kind, "name": name}, "container": container,
		"baseline": item{
			"target": item{"cpu": cpu, "memory": memory}, "cpuConfidence": 8, "memoryConfidence": 8, "cpuMayDecrease": true, "memoryMayDecrease": true,
		},
	}
}

// with returns the recommendation with more fields, at the top or in the baseline.
func (i item) with(key string, value any) item {
	if _, ok := i["baseline"].(item)[key]; ok || key == "cpuDecreaseMessage" || slices.Contains([]string{"leastLimits", "peakMemory", "cpuKnownDuration", "memoryKnownDuration"}, key) {
		i["baseline"].(item)[key] = value
	} else {
		i[key] = value
	}
	return i
}

// knowing returns the recommendation with 8 days of history.
func knowing(i item) item {
	return i.with("cpuKnownDuration", "691200s").with("memoryKnownDuration", "691200s")
}

// web is what most fixtures are about.
func web() item { return of("Deployment", "web", "app", "250m", "256Mi") }

// usage writes recommendations to a file.
func usage(t *testing.T, items ...item) string {
	t.Helper()
	text, err := json.Marshal(item{"recommendations": append([]item{}, items...), "workloads": []string{}})
	if err != nil {
		t.Fatal(err)
	}
	return cmdtest.File(t, "usage.json", text)
}

// files writes files to a directory. Texts that start with "-> " are links.
func files(t *testing.T, all map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range all {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		write := func() error { return os.WriteFile(at, []byte(text), 0o640) }
		if len(text) > 3 && text[:3] == "-> " {
			write = func() error { return os.Symlink(text[3:], at) }
		}
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// texts returns the texts of all files in a directory.
func texts(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		at, _ := filepath.Rel(dir, name)
		text, err := os.ReadFile(name)
		all[at] = string(text)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// unharmed checks with the independent checker that only amounts differ.
func unharmed(t *testing.T, before, after map[string]string) {
	t.Helper()
	for name, text := range before {
		if err := check.Changes([]byte(text), []byte(after[name])); err != nil {
			t.Errorf("%s: %v:\n%s", name, err, after[name])
		}
	}
}

// deployment returns a Deployment whose container "app" has lines behind its image.
func deployment(lines string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: shop\nspec:\n  template:\n    spec:\n      containers:\n      - name: app\n        image: web:1\n" + lines
}
