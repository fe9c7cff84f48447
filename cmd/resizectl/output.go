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
	// formatName is that of commands that list what has a name.
	formatName format = "name"
)

var (
	formats       = []string{string(formatTable), string(formatWide), string(formatJSON), string(formatYAML)}
	namingFormats = append(formats[:len(formats):len(formats)], string(formatName))
)

// String implements pflag.Value.
func (f *format) String() string { return string(*f) }

// formatFlag is -o of a command that has some formats.
type formatFlag struct {
	*format
	has []string
}

// Set implements pflag.Value.
func (f formatFlag) Set(s string) error {
	if !slices.Contains(f.has, s) {
		return fmt.Errorf("must be one of %s", strings.Join(f.has, ", "))
	}
	*f.format = format(s)
	return nil
}

// Type implements pflag.Value.
func (f formatFlag) Type() string { return "format" }

// streams tells whether the parts of an answer are written as they come; a table
// waits for all of them.
func (f *format) streams() bool { return *f == formatJSON || *f == formatYAML }

func (f *format) addFlag(cmd *cobra.Command) { f.addFlagOf(cmd, formats) }

// addNamingFlag is addFlag for a command that has formatName, too.
func (f *format) addNamingFlag(cmd *cobra.Command) { f.addFlagOf(cmd, namingFormats) }

func (f *format) addFlagOf(cmd *cobra.Command, has []string) {
	*f = formatTable
	cmd.Flags().VarP(formatFlag{f, has}, "output", "o", "output format, one of "+strings.Join(has, ", "))
	completeFlag(cmd, "output", cobra.FixedCompletions(has, cobra.ShellCompDirectiveNoFileComp))
}

// printNames prints the names of objects, a line each.
func printNames[T any](w io.Writer, nameOf func(T) string, objects ...T) error {
	for _, object := range objects {
		if _, err := fmt.Fprintln(w, oneLine(nameOf(object))); err != nil {
			return err
		}
	}
	return nil
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

// printLine writes one message as a line of JSON.
func printLine(w io.Writer, m proto.Message) error {
	out, err := toJSON(m, "")
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
