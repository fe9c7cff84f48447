package print

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
)

// columnTemplate is the columns of -o custom-columns.
type columnTemplate struct{ columns []userColumn }

type userColumn struct {
	header string
	path   *fieldPath
}

// parseColumns parses HEADER:PATH,...
func parseColumns(text string) (*columnTemplate, error) {
	t := &columnTemplate{}
	for spec := range strings.SplitSeq(text, ",") {
		header, path, found := strings.Cut(spec, ":")
		if !found {
			return nil, fmt.Errorf("column %q is not HEADER:PATH", spec)
		}
		if err := t.add(header, path); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// parseColumnsFile parses two lines: the headers, and below them their paths.
func parseColumnsFile(text string) (*columnTemplate, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 2 {
		return nil, fmt.Errorf("it has %s instead of 2: the headers, and below them their paths", CountOf(int64(len(lines)), "line"))
	}
	headers, paths := strings.Fields(lines[0]), strings.Fields(lines[1])
	if len(headers) != len(paths) {
		return nil, fmt.Errorf("it has %s, but %s", CountOf(int64(len(headers)), "header"), CountOf(int64(len(paths)), "path"))
	}
	t := &columnTemplate{}
	for i, header := range headers {
		if err := t.add(header, paths[i]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *columnTemplate) add(header, path string) error {
	parsed, err := parsePath(path)
	if err != nil {
		return fmt.Errorf("column %q: %w", header, err)
	}
	t.columns = append(t.columns, userColumn{header, parsed})
	return nil
}

// cellOf returns the values at a path as kubectl prints them.
func cellOf(values []any) string {
	if len(values) == 0 {
		return "<none>"
	}
	return strings.Join(Each(values, func(value any) string { return OneLine(printers.EscapeTerminal(fmt.Sprint(value))) }), ",")
}

// fieldPath is a path to fields of an object, in kubectl's relaxed form of JSONPath: .a.b, a.b, or
// {.a.b}.
type fieldPath struct {
	text string
	path *jsonpath.JSONPath
}

func parsePath(text string) (*fieldPath, error) {
	inner := text
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		inner = text[1 : len(text)-1]
	}
	if strings.TrimPrefix(inner, ".") == "" || strings.ContainsAny(inner, "{}") {
		return nil, fmt.Errorf("%q is not the path of a field, such as .pod", text)
	}
	path := jsonpath.New("field").AllowMissingKeys(true)
	if err := path.Parse("{." + strings.TrimPrefix(inner, ".") + "}"); err != nil {
		return nil, fmt.Errorf("%q is not the path of a field, such as .pod: %w", text, err)
	}
	return &fieldPath{text, path}, nil
}

// find returns the values at the path; none if the object has no such field. An error means the same,
// such as that a list has fewer elements.
func (p *fieldPath) find(object map[string]any) (values []any) {
	results, err := p.path.FindResults(object)
	if err != nil {
		return nil
	}
	for _, result := range results {
		for _, value := range result {
			if value.IsValid() && value.CanInterface() && !isNil(value) {
				values = append(values, value.Interface())
			}
		}
	}
	return values
}

func isNil(value reflect.Value) bool {
	return value.Kind() == reflect.Interface && value.IsNil()
}

// Lister prints only the objects in an answer: their names, or the columns of the user's choice.
type Lister[M any] struct {
	w      io.Writer
	nameOf func(M) string
	// template is nil for names. Its cells are laid out by tab, below headers unless there are none, or they are printed.
	template *columnTemplate
	tab      interface {
		io.Writer
		Flush() error
	}
	headless bool
}

// NewLister returns a printer for a format that IsListing.
func NewLister[M any](w io.Writer, o *Output, nameOf func(M) string) *Lister[M] {
	return &Lister[M]{w: w, nameOf: nameOf, template: o.Format.columns, tab: printers.GetNewTabWriter(w), headless: o.NoHeaders}
}

// Print prints objects: a line each, and before the first of them the headers of columns.
func (l *Lister[M]) Print(all ...M) error {
	if l.template == nil {
		return Texts(l.w, Each(all, func(m M) string { return OneLine(l.nameOf(m)) })...)
	}
	if !l.headless {
		if err := l.row(func(c userColumn) string { return c.header }); err != nil {
			return err
		}
		l.headless = true
	}
	for _, m := range all {
		object, err := Object(m)
		if err != nil {
			return err
		}
		if err := l.row(func(c userColumn) string { return cellOf(c.path.find(object)) }); err != nil {
			return err
		}
	}
	return l.tab.Flush()
}

func (l *Lister[M]) row(cell func(userColumn) string) error {
	_, err := fmt.Fprintln(l.tab, strings.Join(Each(l.template.columns, cell), "\t"))
	return err
}

// Listing prints objects on standard output, in a format that IsListing. nameOf is not called if they have no names.
func Listing[M any](o *Output, nameOf func(M) string, all ...M) error {
	return NewLister(o.Out, o, nameOf).Print(all...)
}
