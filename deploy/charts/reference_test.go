package charts

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
)

// value is a documented value of values.yaml.
type value struct {
	path, comment, set string
}

// documented returns the values that have a comment, in order. Mappings without a comment only
// group values, all of which need a comment.
func documented(t *testing.T, path string, mapping *yamlv3.Node) []value {
	t.Helper()
	var all []value
	for i := 0; i < len(mapping.Content); i += 2 {
		key, node := mapping.Content[i], mapping.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		if key.HeadComment == "" {
			if node.Kind != yamlv3.MappingNode || len(node.Content) == 0 {
				t.Errorf("%s has no comment in values.yaml", at)
			}
			all = append(all, documented(t, at, node)...)
			continue
		}
		var set any
		if err := node.Decode(&set); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		comment := strings.ReplaceAll(strings.ReplaceAll(key.HeadComment, "\n# ", " "), "\n#", " ")
		all = append(all, value{path: at, comment: strings.TrimPrefix(comment, "# "), set: string(text)})
	}
	return all
}

// values returns the top-level mapping of values.yaml.
func values(t *testing.T) *yamlv3.Node {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}

func TestReference(t *testing.T) {
	t.Run("the reference of the values is up to date", theReferenceOfTheValuesIsUpToDate)
	t.Run("the schema and values yaml have the same values", theSchemaAndValuesYamlHaveTheSameValues)
}

func theReferenceOfTheValuesIsUpToDate(t *testing.T) {
	path := filepath.Join(chart, "README.md")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- begin values -->\n", "<!-- end values -->"
	before, rest, ok := strings.Cut(string(content), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s lacks the markers around the values", path)
	}
	table := "| Value | Default | Meaning |\n|---|---|---|\n"
	for _, v := range documented(t, "", values(t)) {
		table += fmt.Sprintf("| `%s` | `%s` | %s |\n", v.path, v.set, strings.ReplaceAll(v.comment, "|", "\\|"))
	}
	want := before + begin + table + end + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(content) {
		t.Errorf("%s is out of date, run make generate", path)
	}
}

func theSchemaAndValuesYamlHaveTheSameValues(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]any `json:"properties"`
		Defs       map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(content, &schema); err != nil {
		t.Fatal(err)
	}
	// Helm reserves this value for charts with subcharts.
	delete(schema.Properties, "global")
	var compare func(path string, mapping *yamlv3.Node, properties map[string]any)
	compare = func(path string, mapping *yamlv3.Node, properties map[string]any) {
		named := map[string]*yamlv3.Node{}
		for i := 0; i < len(mapping.Content); i += 2 {
			if key := mapping.Content[i]; key.HeadComment == "" {
				named[key.Value] = mapping.Content[i+1]
			} else {
				named[key.Value] = nil
			}
		}
		want, got := slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(properties))
		if !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %v, values.yaml %v", path, got, want)
			return
		}
		for name, node := range named {
			if node == nil {
				continue
			}
			property := properties[name].(object)
			if ref, ok := property["$ref"].(string); ok {
				property = schema.Defs[strings.TrimPrefix(ref, "#/$defs/")].(object)
			}
			compare(path+"."+name, node, property["properties"].(object))
		}
	}
	compare("", values(t), schema.Properties)
}
