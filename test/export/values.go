package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mapping is an entry of .resizer.yaml.
type mapping struct {
	Workload  string `json:"workload"`
	Container string `json:"container"`
	File      string `json:"file"`
	Path      string `json:"path"`
}

// mappings maps the resources that values have: each in a file of values of a chart, a HelmRelease or an Application of
// Argo CD. A made-up workload stands for each.
func mappings(dir string) (all []mapping, err error) {
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var value map[string]any
		if yaml.NewDecoder(bytes.NewReader(text)).Decode(&value) != nil {
			return nil // It is a template, or no manifest.
		}
		prefix, within := "", any(value)
		switch value["kind"] {
		case "HelmRelease":
			prefix, within = "spec.values", inside(value, "spec", "values")
		case "Application":
			prefix, within = "spec.source.helm.values", inside(value, "spec", "source", "helm", "values")
		default:
			if value["kind"] != nil || !strings.HasPrefix(filepath.Base(name), "values") {
				return nil
			}
		}
		file, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		for _, at := range resourcesIn(prefix, within) {
			all = append(all, mapping{fmt.Sprintf("values/deployment/values-%d", len(all)), "app", filepath.ToSlash(file), at})
		}
		return nil
	})
	return all, err
}

func inside(value any, keys ...string) any {
	for _, key := range keys {
		m, _ := value.(map[string]any)
		value = m[key]
	}
	return value
}

// resourcesIn returns the paths of resources in values. YAML in text is read, too.
func resourcesIn(at string, value any) (paths []string) {
	switch value := value.(type) {
	case string:
		var inner map[string]any
		if strings.Contains(value, "\n") && yaml.Unmarshal([]byte(value), &inner) == nil {
			return resourcesIn(at, inner)
		}
	case map[string]any:
		for key, inner := range value {
			name := at + `["` + key + `"]`
			if amounts, isMap := inner.(map[string]any); key == "resources" && (inner == nil || isMap && (len(amounts) == 0 || amounts["requests"] != nil || amounts["limits"] != nil)) {
				paths = append(paths, name)
				continue
			}
			if _, text := inner.(string); !text && !strings.ContainsAny(key, `]"`) {
				paths = append(paths, resourcesIn(name, inner)...)
			}
		}
	case []any:
		for i, inner := range value {
			paths = append(paths, resourcesIn(fmt.Sprintf("%s[%d]", at, i), inner)...)
		}
	}
	slices.Sort(paths)
	return paths
}

// writeMappings writes mappings to the directory, unless it has some.
func writeMappings(dir string, all []mapping) ([]container, error) {
	text, err := json.Marshal(map[string]any{"values": all})
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, ".resizer.yaml"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := file.Write(text); err != nil {
		return nil, err
	}
	made := make([]container, len(all))
	for i, m := range all {
		made[i] = container{"values", "Deployment", m.Workload[strings.LastIndexByte(m.Workload, '/')+1:], m.Container}
	}
	return made, file.Close()
}
