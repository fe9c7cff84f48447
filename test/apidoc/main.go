// Command apidoc writes the reference of the API: it reads a FileDescriptorSet with comments
// from stdin, as "buf build" writes it, and writes Markdown to stdout.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

const documented = "workloadresizer.v1"

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	content, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the descriptors: %w", err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(content, &set); err != nil {
		return fmt.Errorf("decode the descriptors: %w", err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return fmt.Errorf("resolve the descriptors: %w", err)
	}
	d := document{bufio.NewWriter(out)}
	d.write(files.RangeFilesByPackage)
	return d.Flush()
}

type document struct{ *bufio.Writer }

func (d document) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d document) write(byPackage func(protoreflect.FullName, func(protoreflect.FileDescriptor) bool)) {
	var services []protoreflect.ServiceDescriptor
	var messages []protoreflect.MessageDescriptor
	var enums []protoreflect.EnumDescriptor
	byPackage(documented, func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			services = append(services, f.Services().Get(i))
		}
		for i := range f.Messages().Len() {
			messages = append(messages, f.Messages().Get(i))
		}
		for i := range f.Enums().Len() {
			enums = append(enums, f.Enums().Get(i))
		}
		return true
	})
	slices.SortFunc(services, byName)
	slices.SortFunc(messages, byName)
	slices.SortFunc(enums, byName)

	d.printf("<!-- generated: from the proto files, by make generate -->\n# API: %s\n\n", documented)
	for _, s := range services {
		d.printf("- [%s](#%s):", s.Name(), strings.ToLower(string(s.Name())))
		for i := range s.Methods().Len() {
			m := s.Methods().Get(i)
			d.printf(" [%s](#%s)", m.Name(), strings.ToLower(string(m.Name())))
		}
		d.printf("\n")
	}
	d.printf("\nFields have the names in the proto files. In JSON, as in the output of grpcurl, names are\nin lowerCamelCase. [Errors](errors.md) has the reasons of errors.\n")
	for _, s := range services {
		d.printf("\n## %s\n\n%s\n", s.Name(), comment(s))
		for i := range s.Methods().Len() {
			d.method(s.Methods().Get(i))
		}
	}
	d.printf("\n## Messages\n")
	for _, m := range messages {
		d.message(m)
	}
	d.printf("\n## Enums\n")
	for _, e := range enums {
		d.enum(e)
	}
}

func byName[D protoreflect.Descriptor](a, b D) int {
	return strings.Compare(string(a.Name()), string(b.Name()))
}

func (d document) method(m protoreflect.MethodDescriptor) {
	d.printf("\n### %s\n\n%s%s → %s%s\n\n%s\n", m.Name(), streamOf(m.IsStreamingClient()), link(m.Input()), streamOf(m.IsStreamingServer()), link(m.Output()), comment(m))
}

func streamOf(many bool) string {
	if many {
		return "a stream of "
	}
	return ""
}

func (d document) message(m protoreflect.MessageDescriptor) {
	d.printf("\n### %s\n\n%s\n", m.Name(), comment(m))
	if m.Fields().Len() == 0 {
		return
	}
	d.printf("\n| Field | Type | Meaning |\n|---|---|---|\n")
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		meaning := inCell(comment(f)) + behavior(f)
		if one := f.ContainingOneof(); one != nil && !one.IsSynthetic() {
			meaning += fmt.Sprintf(" One of `%s`.", one.Name())
		}
		if rules := rulesOf(f); rules != "" {
			meaning += " Rules: `" + inCell(rules) + "`."
		}
		d.printf("| `%s` | %s | %s |\n", f.Name(), typeOf(f), meaning)
	}
}

func (d document) enum(e protoreflect.EnumDescriptor) {
	d.printf("\n### %s\n\n%s\n\n| Value | Meaning |\n|---|---|\n", e.Name(), comment(e))
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		d.printf("| `%s` | %s |\n", v.Name(), inCell(comment(v)))
	}
}

func typeOf(f protoreflect.FieldDescriptor) string {
	if f.IsMap() {
		return fmt.Sprintf("map from %s to %s", typeOf(f.MapKey()), typeOf(f.MapValue()))
	}
	name := f.Kind().String()
	switch {
	case f.Message() != nil:
		name = link(f.Message())
	case f.Enum() != nil:
		name = link(f.Enum())
	}
	switch {
	case f.IsList():
		return "repeated " + name
	case f.HasOptionalKeyword():
		return "optional " + name
	}
	return name
}

func link(d protoreflect.Descriptor) string {
	if d.ParentFile().Package() != documented {
		return "`" + string(d.FullName()) + "`"
	}
	return fmt.Sprintf("[%s](#%s)", d.Name(), strings.ToLower(string(d.Name())))
}

// behavior returns what a field is besides optional, which is the default and not printed. A
// field that identifies a resource is required, so that is not printed either.
func behavior(f protoreflect.FieldDescriptor) string {
	behaviors, _ := proto.GetExtension(f.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	switch {
	case slices.Contains(behaviors, annotations.FieldBehavior_REQUIRED):
		return " Required."
	case slices.Contains(behaviors, annotations.FieldBehavior_OUTPUT_ONLY):
		return " Output only."
	}
	return ""
}

// rulesOf returns the validation rules of a field, e.g. "min_len 1, max_len 63".
func rulesOf(f protoreflect.FieldDescriptor) string {
	rules, ok := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	if !ok || rules == nil {
		return ""
	}
	return strings.Join(words(rules.ProtoReflect()), ", ")
}

// words returns the fields of a message that are set. It flattens the groups by type that rules
// have.
func words(m protoreflect.Message) []string {
	var all []string
	for i := range m.Descriptor().Fields().Len() {
		field := m.Descriptor().Fields().Get(i)
		value := m.Get(field)
		switch {
		case !m.Has(field):
		case field.Message() != nil && !field.IsList() && field.Name() == "items":
			all = append(all, "each "+strings.Join(words(value.Message()), " and "))
		case field.Message() != nil && !field.IsList():
			all = append(all, words(value.Message())...)
		case field.IsList():
			for j := range value.List().Len() {
				all = append(all, fmt.Sprintf("%s %v", field.Name(), value.List().Get(j)))
			}
		case field.Kind() == protoreflect.BoolKind:
			all = append(all, string(field.Name()))
		default:
			all = append(all, fmt.Sprintf("%s %v", field.Name(), value.Interface()))
		}
	}
	return all
}

// comment returns the comment before the descriptor in the proto file.
func comment(d protoreflect.Descriptor) string {
	text := d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}

// inCell returns text for a cell of a table: on one line and escaped.
func inCell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "|", `\|`)
}
