package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
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

// YAML returns a message as YAML, ending in a newline, with every line except the first starting with prefix. Empty lines
// occur only in text of several lines, and mean the same without it.
func YAML(m proto.Message, prefix string) ([]byte, error) {
	raw, err := JSON(m, "")
	if err != nil {
		return nil, err
	}
	out, err := yaml.JSONToYAML(raw)
	if err != nil {
		return nil, fmt.Errorf("write the answer as YAML: %w", err)
	}
	lines := bytes.SplitAfter(out, []byte("\n"))
	for i, line := range lines {
		if i > 0 && len(bytes.TrimSpace(line)) > 0 {
			lines[i] = append([]byte(prefix), line...)
		}
	}
	return bytes.Join(lines, nil), nil
}

// Field is a field of a document. Its value is a string, a message, another value whose JSON is an object, or a List of them.
type Field struct {
	Name  string
	Value any
}

// List returns a value of a Field with several parts.
func List[T any](parts []T) []any {
	list := make([]any, len(parts))
	for i, part := range parts {
		list[i] = part
	}
	return list
}

// document is an object with fields in their order.
type document []Field

// MarshalJSON implements json.Marshaler.
func (d document) MarshalJSON() ([]byte, error) {
	var object bytes.Buffer
	for i, field := range d {
		raw, err := rawOf(field.Value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			object.WriteByte(',')
		}
		fmt.Fprintf(&object, "%q: %s", field.Name, raw)
	}
	return fmt.Appendf(nil, "{%s}", &object), nil
}

// Fields prints a document with these fields on standard output, like Document.
func (o *Output) Fields(fields ...Field) error { return Value(o.Out, o.Format, document(fields)) }

// selectable returns a value for templates.
func selectable(value any) (any, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case []any:
		list := make([]any, len(v))
		for i := range v {
			part, err := selectable(v[i])
			if err != nil {
				return nil, err
			}
			list[i] = part
		}
		return list, nil
	}
	return Object(value)
}

// rawOf returns a value as JSON.
func rawOf(value any) (json.RawMessage, error) {
	switch v := value.(type) {
	case json.RawMessage:
		return v, nil
	case proto.Message:
		return JSON(v, "")
	case []any:
		list := make([]json.RawMessage, len(v))
		for i := range v {
			part, err := rawOf(v[i])
			if err != nil {
				return nil, err
			}
			list[i] = part
		}
		value = list
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write the answer as JSON: %w", err)
	}
	return raw, nil
}

// Document writes messages as the whole output: one object with the fields of all of them, or what
// the format's template selects from it. If several messages have a field, the first message determines
// its value.
func Document(w io.Writer, f Format, messages ...proto.Message) error {
	var all document
	merged := map[string]any{}
	for _, m := range messages {
		raw, err := fieldsOf[json.RawMessage](m)
		if err != nil {
			return err
		}
		object := map[string]any{}
		if f.template != nil {
			if object, err = Object(m); err != nil {
				return err
			}
		}
		fields := m.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			name := fields.Get(i).JSONName()
			if _, known := merged[name]; !known && raw[name] != nil {
				merged[name], all = object[name], append(all, Field{name, raw[name]})
			}
		}
	}
	if f.template != nil {
		return f.Select(w, merged)
	}
	raw, err := all.MarshalJSON()
	if err != nil {
		return err
	}
	// Unlike json.Marshal, the API's own mapping does not escape characters of HTML.
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return fmt.Errorf("indent the answer: %w", err)
	}
	return writeJSON(w, f, out.Bytes())
}

// Value writes a value that is no message as the whole output, like Document.
func Value(w io.Writer, f Format, value any) error {
	if f.template != nil {
		document, err := Object(value)
		if err != nil {
			return err
		}
		return f.Select(w, document)
	}
	out, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write the answer as JSON: %w", err)
	}
	return writeJSON(w, f, out)
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

// Object returns a value for templates, columns and sorting: the fields of its JSON. In those of a message,
// integers of 64 bits are numbers, as in the objects that kubectl prints. JSON has them as strings.
func Object(value any) (map[string]any, error) {
	if d, is := value.(document); is {
		object := map[string]any{}
		for _, field := range d {
			part, err := selectable(field.Value)
			if err != nil {
				return nil, err
			}
			object[field.Name] = part
		}
		return object, nil
	}
	if row, is := value.(interface{ InAPI() proto.Message }); is && row.InAPI() != nil {
		value = row.InAPI()
	}
	fields, err := fieldsOf[any](value)
	if m, is := value.(proto.Message); is && err == nil {
		setNumbers(m.ProtoReflect().Descriptor(), fields)
	}
	return fields, err
}

// fieldsOf returns the fields of a value's JSON.
func fieldsOf[V any](value any) (map[string]V, error) {
	raw, err := rawOf(value)
	if err != nil {
		return nil, err
	}
	fields := map[string]V{}
	if err := utiljson.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("read the answer's JSON: %w", err)
	}
	return fields, nil
}

// setNumbers gives the fields of a message the numeric types that they have in the API.
func setNumbers(message protoreflect.MessageDescriptor, fields map[string]any) {
	for name, value := range fields {
		if field := message.Fields().ByJSONName(name); field != nil {
			fields[name] = typed(field, value)
		}
	}
}

// typed returns a value of a field with the numeric types that it has in the API.
func typed(field protoreflect.FieldDescriptor, value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = typed(field, v[i])
		}
	case map[string]any:
		if field.IsMap() {
			for key := range v {
				v[key] = typed(field.MapValue(), v[key])
			}
		} else {
			setNumbers(field.Message(), v)
		}
	case int64:
		if kind := field.Kind(); kind == protoreflect.DoubleKind || kind == protoreflect.FloatKind {
			return float64(v)
		}
	case string:
		switch field.Kind() {
		case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
			if n, err := strconv.ParseInt(v, 10, 64); err == nil {
				return n
			}
		}
	}
	return value
}
