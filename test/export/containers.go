package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// container is a container in a manifest. Its namespace is "default" if the manifest names none.
type container struct{ namespace, kind, workload, name string }

// containers finds containers in all documents that are YAML.
func containers(dir string) (all []container, files int, err error) {
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
			return err
		}
		files++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, part := range strings.Split("\n"+string(text), "\n---") {
			decoder := yaml.NewDecoder(bytes.NewReader([]byte("\n" + part)))
			for {
				var value map[string]any
				if err := decoder.Decode(&value); err != nil {
					if errors.Is(err, io.EOF) {
						break
					}
					break // It is a template, or no manifest.
				}
				all = append(all, in(value)...)
			}
		}
		return nil
	})
	slices.SortFunc(all, func(a, b container) int {
		return strings.Compare(a.namespace+"/"+a.kind+"/"+a.workload+"/"+a.name, b.namespace+"/"+b.kind+"/"+b.workload+"/"+b.name)
	})
	return slices.Compact(all), files, err
}

func in(object map[string]any) (all []container) {
	if items, ok := object["items"].([]any); ok {
		for _, item := range items {
			if inner, ok := item.(map[string]any); ok {
				all = append(all, in(inner)...)
			}
		}
		return all
	}
	kind, _ := object["kind"].(string)
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	namespace, _ := metadata["namespace"].(string)
	if namespace == "" {
		namespace = "default"
	}
	spec := object
	keys := []string{"spec", "template", "spec"}
	switch kind {
	case "Pod":
		keys = []string{"spec"}
	case "CronJob":
		keys = []string{"spec", "jobTemplate", "spec", "template", "spec"}
	}
	for _, key := range keys {
		spec, _ = spec[key].(map[string]any)
	}
	for _, list := range []string{"containers", "initContainers"} {
		items, _ := spec[list].([]any)
		for _, item := range items {
			inner, _ := item.(map[string]any)
			if of, _ := inner["name"].(string); of != "" && name != "" {
				all = append(all, container{namespace, kind, name, of})
			}
		}
	}
	return all
}

// recommend returns a recommendation for each container, as "resizectl usage -o json" writes it.
func recommend(all []container) []any {
	recommendations := []any{}
	for _, c := range all {
		recommendations = append(recommendations, map[string]any{
			"namespace": c.namespace, "workload": map[string]any{"kind": c.kind, "name": c.workload}, "container": c.name,
			"baseline": map[string]any{
				"target": map[string]any{"cpu": "77m", "memory": "333Mi"}, "cpuConfidence": 8, "memoryConfidence": 8,
				"cpuMayDecrease": true, "memoryMayDecrease": true,
			},
		})
	}
	return recommendations
}
