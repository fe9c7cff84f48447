package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
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

// Document writes one message as the whole JSON or YAML output.
func Document(w io.Writer, f Format, m proto.Message) error {
	var out []byte
	var err error
	if f == FormatYAML {
		out, err = YAML(m)
	} else {
		out, err = JSON(m, "")
		out = append(out, '\n')
	}
	if err != nil {
		return err
	}
	_, err = w.Write(out)
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
