package manifest

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// CustomResourceDefinitions are by far the largest documents of many manifests, and never planned.
var (
	definitionKind = regexp.MustCompile(`(?m)^kind:[ \t]+["']?CustomResourceDefinition["']?[ \t\r]*(?:#.*)?$`)
	anyKind        = regexp.MustCompile(`(?m)^kind:`)
	definitionName = regexp.MustCompile(`(?m)^(?:  |metadata: *\{ *)name: *["']?([a-z0-9.-]+)`)
)

// definition reports whether a YAML document is a CustomResourceDefinition, and returns its name, if it is
// where it usually is. It does not parse the document.
func definition(part []byte) (name string, ok bool) {
	if !definitionKind.Match(part) || len(anyKind.FindAllIndex(part, 2)) > 1 {
		return "", false
	}
	if match := definitionName.FindSubmatch(part); match != nil {
		name = string(match[1])
	}
	return name, true
}

// definitionJSON returns a CustomResourceDefinition without its content.
func definitionJSON(name string) []byte {
	var h header
	h.APIVersion, h.Kind, h.Metadata.Name = "apiextensions.k8s.io/v1", "CustomResourceDefinition", name
	text, err := json.Marshal(&h)
	if err != nil {
		panic(err) // It has only strings.
	}
	return text
}

// Shorten returns the text of a manifest without the contents of CustomResourceDefinitions. Lines keep
// their numbers.
func Shorten(text []byte) []byte {
	var short bytes.Buffer
	for _, part := range split(text) {
		name, ok := definition(part)
		if !ok {
			short.Write(part)
			continue
		}
		if bytes.HasPrefix(part, []byte("---")) {
			short.WriteString("--- ")
		}
		short.Write(definitionJSON(name))
		short.Write(bytes.Repeat([]byte("\n"), bytes.Count(part, []byte("\n"))))
	}
	return short.Bytes()
}
