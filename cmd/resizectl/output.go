package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"sigs.k8s.io/yaml"
)

// format is a value of -o.
type format string

const (
	formatTable format = "table"
	formatWide  format = "wide"
	formatJSON  format = "json"
	formatYAML  format = "yaml"
)

var formats = []string{string(formatTable), string(formatWide), string(formatJSON), string(formatYAML)}

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// Set implements pflag.Value.
func (f *format) Set(s string) error {
	if !slices.Contains(formats, s) {
		return fmt.Errorf("must be one of %s", strings.Join(formats, ", "))
	}
	*f = format(s)
	return nil
}

// Type implements pflag.Value.
func (f *format) Type() string { return "format" }

func (f *format) addFlag(cmd *cobra.Command) {
	*f = formatTable
	cmd.Flags().VarP(f, "output", "o", "output format, one of "+strings.Join(formats, ", "))
	if err := cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // The flag was added a line above.
	}
}

// toJSON is a message as JSON in the API's own mapping, indented with every
// line but the first starting with prefix. Numbers that are 0 and empty lists
// are there, so that scripts need not ask. protojson varies its white space on
// purpose; indenting it anew gives the same bytes every time.
func toJSON(m proto.Message, prefix string) ([]byte, error) {
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

// toYAML is toJSON as YAML, ending in a newline.
func toYAML(m proto.Message) ([]byte, error) {
	raw, err := toJSON(m, "")
	if err != nil {
		return nil, err
	}
	out, err := yaml.JSONToYAML(raw)
	if err != nil {
		return nil, fmt.Errorf("write the answer as YAML: %w", err)
	}
	return out, nil
}

// printDocument writes one message as the whole JSON or YAML output.
func printDocument(w io.Writer, f format, m proto.Message) error {
	var out []byte
	var err error
	if f == formatYAML {
		out, err = toYAML(m)
	} else {
		out, err = toJSON(m, "")
		out = append(out, '\n')
	}
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}
