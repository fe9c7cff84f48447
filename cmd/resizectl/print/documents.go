package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// JSON returns a message as JSON in the API's own mapping, indented, with every line except
// the first starting with prefix. It includes numbers that are 0 and empty lists, so that
// scripts do not have to check. protojson varies its white space on purpose; indenting it
// again gives the same bytes every time.
func JSON(m proto.Message, prefix string) ([]byte, error) {
	raw, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the answer as JSON: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, prefix, "  "); err != nil {
		return nil, fmt.Errorf("indent the answer: %w", err)
	}
	return out.Bytes(), nil
}

// YAML returns a message as YAML, ending in a newline.
func YAML(m proto.Message) ([]byte, error) {
	raw, err := JSON(m, "")
	if err != nil {
		return nil, err
	}
	out, err := yaml.JSONToYAML(raw)
	if err != nil {
		return nil, fmt.Errorf("write the answer as YAML: %w", err)
	}
	return out, nil
}

// joined returns the fields of several messages as one JSON object. If several messages have a
// field, the first message determines its value.
func joined(messages ...proto.Message) ([]byte, error) {
	var object bytes.Buffer
	object.WriteByte('{')
	known := map[string]bool{}
	for _, m := range messages {
		raw, err := JSON(m, "")
		if err != nil {
			return nil, err
		}
		fields := json.NewDecoder(bytes.NewReader(raw))
		if _, err := fields.Token(); err != nil { // The opening brace.
			return nil, fmt.Errorf("join the answers: %w", err)
		}
		for fields.More() {
			name, err := fields.Token()
			if err != nil {
				return nil, fmt.Errorf("join the answers: %w", err)
			}
			var value json.RawMessage
			if err := fields.Decode(&value); err != nil {
				return nil, fmt.Errorf("join the answers: %w", err)
			}
			if key := name.(string); !known[key] {
				if len(known) > 0 {
					object.WriteByte(',')
				}
				known[key] = true
				fmt.Fprintf(&object, "%q: %s", key, value)
			}
		}
	}
	object.WriteByte('}')
	var out bytes.Buffer
	if err := json.Indent(&out, object.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("indent the answer: %w", err)
	}
	return out.Bytes(), nil
}

// Document writes messages as the whole output: one object with the fields of all of them, or what
// the format's template selects from it.
func Document(w io.Writer, f Format, messages ...proto.Message) error {
	if f.template != nil {
		document := map[string]any{}
		for _, m := range messages {
			fields, err := Object(m)
			if err != nil {
				return err
			}
			for name, value := range fields {
				if _, known := document[name]; !known {
					document[name] = value
				}
			}
		}
		return f.Select(w, document)
	}
	out, err := joined(messages...)
	if err != nil {
		return err
	}
	return writeJSON(w, f, out)
}

// Value writes a value that is no message as the whole output, like Document.
func Value(w io.Writer, f Format, value any) error {
	out, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write the answer as JSON: %w", err)
	}
	if f.template == nil {
		return writeJSON(w, f, out)
	}
	document := map[string]any{}
	if err := utiljson.Unmarshal(out, &document); err != nil {
		return fmt.Errorf("read the answer's JSON: %w", err)
	}
	return f.Select(w, document)
}

// writeJSON writes a JSON document, as YAML if that is the format.
func writeJSON(w io.Writer, f Format, document []byte) (err error) {
	document = append(document, '\n')
	if f == FormatYAML {
		if document, err = yaml.JSONToYAML(document); err != nil {
			return fmt.Errorf("write the answer as YAML: %w", err)
		}
	}
	_, err = w.Write(document)
	return err
}

// printLine writes one message as a line of JSON.
func printLine(w io.Writer, m proto.Message) error {
	out, err := JSON(m, "")
	if err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, out); err != nil {
		return fmt.Errorf("write the answer on a line: %w", err)
	}
	line.WriteByte('\n')
	_, err = line.WriteTo(w)
	return err
}
