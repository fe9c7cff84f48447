package configs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/workload-resizer/workload-resizer/ratios/config"
)

// Config is a configuration in a file.
type Config struct {
	Text []byte
	// manifest names the ConfigMap that it is in, if there are several.
	manifest string
	// name is the name of the ConfigMap alone.
	name string
	// Err is why there is no text.
	Err error
}

// manifest is the part of a Kubernetes object that shows whether it has a configuration.
type manifest struct {
	APIVersion string
	Kind       string
	Metadata   struct{ Namespace, Name string }
	Data       yaml.Node
	// Items are the items of a List.
	Items []yaml.Node
}

// Find returns the configurations in the text: the one in the ConfigMap with the name, or
// else those in all ConfigMaps, or the text itself if nothing in it is a manifest.
func Find(text []byte, name string) []Config {
	var found []Config
	manifests := 0
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			// The parser of configurations reports what is wrong.
			return []Config{{Text: text}}
		}
		configs, isManifest := configsOf(&document)
		found = append(found, configs...)
		if isManifest {
			manifests++
		}
	}
	if manifests == 0 {
		return []Config{{Text: text}}
	}
	isNamed := func(c Config) bool { return c.name == name }
	if slices.ContainsFunc(found, isNamed) {
		found = slices.DeleteFunc(found, func(c Config) bool { return !isNamed(c) })
	}
	switch len(found) {
	case 0:
		return []Config{{Err: fmt.Errorf("none of the manifests is a ConfigMap with the key %s", config.FileName)}}
	case 1:
		found[0].manifest = ""
	}
	return found
}

// configsOf returns the configurations in a manifest, and reports whether the document is a
// manifest. A List, as "kubectl get" prints it, has the configurations of its items. A ConfigMap
// whose keys are set twice has none, because one of the values would be lost.
func configsOf(document *yaml.Node) (found []Config, isManifest bool) {
	root := document
	if root.Kind == yaml.DocumentNode {
		root = root.Content[0]
	}
	var m manifest
	for key, into := range map[string]any{"apiVersion": &m.APIVersion, "kind": &m.Kind, "metadata": &m.Metadata, "data": &m.Data, "items": &m.Items} {
		if value := valueOf(root, key); value != nil {
			_ = value.Decode(into) // Fields that do not fit a manifest stay empty.
		}
	}
	switch {
	case m.APIVersion == "" || m.Kind == "":
		return nil, false
	case m.APIVersion != "v1":
	case m.Kind == "List", m.Kind == "ConfigMapList":
		for i := range m.Items {
			configs, _ := configsOf(&m.Items[i])
			found = append(found, configs...)
		}
	case m.Kind == "ConfigMap":
		value, err := valueOf(&m.Data, config.FileName), ambiguous(document)
		switch {
		case err != nil:
			found = append(found, m.found(err))
		case value != nil:
			found = append(found, m.config(value))
		}
	}
	return found, true
}

// ambiguous returns an error if a key is set twice; nil if there is none.
func ambiguous(document *yaml.Node) error {
	err := document.Decode(new(any))
	if all, ok := errors.AsType[*yaml.TypeError](err); ok {
		return errors.New(all.Errors[0]) // One line.
	}
	return err
}

// valueOf returns the value of a key in a mapping; nil if there is none.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// found returns the ConfigMap without its text, and why it has none.
func (m *manifest) found(err error) Config {
	return Config{manifest: fmt.Sprintf("ConfigMap %s/%s", m.Metadata.Namespace, m.Metadata.Name), name: m.Metadata.Name, Err: err}
}

// config returns the configuration in a ConfigMap.
func (m *manifest) config(value *yaml.Node) Config {
	c := m.found(nil)
	if value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
		return m.found(fmt.Errorf("data[%q]: line %d: must be text, as after \"%s: |\"", config.FileName, value.Line, config.FileName))
	}
	if value.Style&yaml.LiteralStyle != 0 {
		// The text begins on the line after the |. Empty lines before it make its line
		// numbers match the file.
		c.Text = bytes.Repeat([]byte("\n"), value.Line)
	}
	c.Text = append(c.Text, value.Value...)
	return c
}
