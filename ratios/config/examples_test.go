package config

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// begin is what examples lack that show only some keys.
const begin = "baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}, n4: {cpuPerf: 1.25, memPerf: 1}, c3: {cpuPerf: 1.3, memPerf: 1}}\n"

// keysOfExamples are the keys by which an example is a configuration, and so is a list of overrides.
var keysOfExamples = []string{"baselineNodeType", "bounds", "demand", "eviction", "guard", "overload", "pace", "podLabels", "prices", "production", "startup", "work"}

// TestExamples parses the configurations in the documentation: blocks of YAML, those in lists, too, and
// ConfigMaps. Other YAML must be well-formed.
func TestExamples(t *testing.T) {
	pages, err := documentation("../..")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]int{}
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for _, block := range yamlBlocks(pages[page]) {
			configured, err := parseExample(block)
			if err != nil {
				t.Errorf("%s: %v in\n%s", page, err, block)
			}
			if configured {
				folders[filepath.Dir(page)]++
			}
		}
	}
	for _, folder := range []string{"docs/concepts", "docs/tasks"} {
		if folders[folder] < 3 {
			t.Errorf("only %d examples in %s", folders[folder], folder)
		}
	}
	for block, want := range map[string]bool{"guard: {windows: 5m}": false, "a: [": false, "kind: ConfigMap\ndata: {config.yaml: 'guard: 1'}": false, "guard: {window: 5m}": true, "components: [a]": true} {
		if _, err := parseExample(block); err == nil != want {
			t.Errorf("%q: %v", block, err)
		}
	}
}

// documentation returns the README and the pages in docs by their paths.
func documentation(root string) (map[string]string, error) {
	pages := map[string]string{}
	read := func(path string) error {
		text, err := os.ReadFile(filepath.Join(root, path))
		pages[path] = string(text)
		return err
	}
	if err := read("README.md"); err != nil {
		return nil, err
	}
	return pages, fs.WalkDir(os.DirFS(root), "docs", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		return read(path)
	})
}

// yamlBlocks returns the blocks of YAML in a page, without their indentation.
func yamlBlocks(page string) (all []string) {
	for _, block := range regexp.MustCompile("(?ms)^( *)```yaml\n(.*?)^ *```").FindAllStringSubmatch(page, -1) {
		all = append(all, regexp.MustCompile("(?m)^"+block[1]).ReplaceAllString(block[2], ""))
	}
	return all
}

// parseExample returns whether a block is a configuration, and what is wrong with it.
func parseExample(block string) (configured bool, err error) {
	var object struct {
		Kind string            `json:"kind"`
		Data map[string]string `json:"data"`
	}
	var keys map[string]any
	if err := yaml.Unmarshal([]byte(block), &keys); err != nil {
		return false, fmt.Errorf("not YAML: %w", err)
	}
	if keys["kind"] == "ConfigMap" {
		if err := yaml.Unmarshal([]byte(block), &object); err != nil {
			return false, err
		}
		block = object.Data["config.yaml"]
	} else if _, rules := keys["overrides"].([]any); !rules && !slices.ContainsFunc(keysOfExamples, func(key string) bool { return keys[key] != nil }) {
		return false, nil // The overrides of the API are no list.
	}
	if !strings.Contains(block, "baselineNodeType") {
		block = begin + block
	}
	_, err = Parse([]byte(block), ratios.Provenance{})
	return true, err
}
