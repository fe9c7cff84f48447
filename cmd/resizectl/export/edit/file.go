package edit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// File is text with YAML or JSON documents.
type File struct {
	parts []*part
}

// part is what is between two lines that start with ---. It is parsed by itself, so that lines count from its start.
type part struct {
	text []byte
	// line is the number of lines before it.
	line int
	// starts has where each line starts.
	starts    []int
	documents []*Document
	edits     []edit
}

// edit replaces text[from:to].
type edit struct {
	from, to int
	with     string
}

// Fault is text that is not YAML, or that the parser cannot read.
type Fault struct {
	Line    int
	Problem string
}

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprintf("line %d: %s", f.Line, f.Problem) }

var byteOrderMark = []byte("\uFEFF")

// Parse reads text. A part that is not YAML is a fault; the documents of the other parts can be changed nevertheless. Only
// parts for which relevant is true are parsed; nil means all.
func Parse(text []byte, relevant func(part []byte) bool) (*File, []*Fault) {
	if !utf8.Valid(text) {
		return &File{parts: []*part{{text: text}}}, []*Fault{{Line: 1, Problem: "it is not UTF-8 text"}}
	}
	f, line := &File{}, 0
	var faults []*Fault
	for _, chunk := range split(text) {
		p := &part{text: chunk, line: line}
		if relevant == nil || relevant(chunk) {
			if fault := p.parse(); fault != nil {
				faults = append(faults, fault)
			}
		}
		f.parts = append(f.parts, p)
		line += bytes.Count(chunk, []byte("\n"))
	}
	return f, faults
}

// ParseRest reads the parts that were not relevant before.
func (f *File) ParseRest() {
	for _, p := range f.parts {
		if p.starts == nil {
			_ = p.parse() // A part that is not YAML has no documents.
		}
	}
}

// Documents returns the documents in their order. Empty ones are omitted.
func (f *File) Documents() (all []*Document) {
	for _, p := range f.parts {
		all = append(all, p.documents...)
	}
	return all
}

// Bytes returns the changed text.
func (f *File) Bytes() ([]byte, error) {
	var all []byte
	for _, p := range f.parts {
		text, err := p.bytes()
		if err != nil {
			return nil, err
		}
		all = append(all, text...)
	}
	return all, nil
}

// split splits text before each line that starts with ---. Directives belong to the document that follows them.
func split(text []byte) (parts [][]byte) {
	begin := 0
	for at := 0; at < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		if line := text[at:end]; at > begin && isSeparator(line) && !onlyDirectives(text[begin:at]) {
			parts = append(parts, text[begin:at])
			begin = at
		}
		at = end
	}
	return append(parts, text[begin:])
}

func isSeparator(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// onlyDirectives reports whether text is the directives of a document, such as %YAML 1.2.
func onlyDirectives(text []byte) bool {
	found := false
	for line := range bytes.Lines(bytes.TrimPrefix(text, byteOrderMark)) {
		switch line = bytes.TrimSpace(line); {
		case len(line) == 0, line[0] == '#':
		case line[0] == '%':
			found = true
		default:
			return false
		}
	}
	return found
}

// lineStarts returns where the lines of text start, with the line breaks of the YAML parser.
func lineStarts(text []byte) []int {
	begin := 0
	if bytes.HasPrefix(text, byteOrderMark) {
		begin = len(byteOrderMark) // The parser does not count it.
	}
	starts := []int{begin}
	for at := begin; at < len(text); {
		n := lineBreak(text[at:])
		at += max(n, 1)
		if n > 0 {
			starts = append(starts, at)
		}
	}
	return starts
}

// lineBreak returns the length of the line break at the start of text; 0 if there is none.
func lineBreak(text []byte) int {
	switch {
	case len(text) == 0:
		return 0
	case text[0] == '\r' && len(text) > 1 && text[1] == '\n':
		return 2
	case text[0] == '\r', text[0] == '\n':
		return 1
	}
	for _, wide := range [...]string{"\u0085", "\u2028", "\u2029"} {
		if bytes.HasPrefix(text, []byte(wide)) {
			return len(wide)
		}
	}
	return 0
}

// parserLine finds the line in an error of the parser.
var parserLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func (p *part) parse() *Fault {
	p.starts = lineStarts(p.text)
	roots, err := parse(p.text)
	if err != nil {
		match := parserLine.FindStringSubmatch(err.Error())
		fault := &Fault{Line: p.line + 1, Problem: parserLine.ReplaceAllString(err.Error(), "")}
		if len(match) == 2 {
			if n, err := strconv.Atoi(match[1]); err == nil {
				fault.Line = p.line + n
			}
		}
		return fault
	}
	for _, root := range roots {
		p.documents = append(p.documents, newDocument(p, root))
	}
	return nil
}

// parse returns the documents in text that are not empty. The parser panics on some invalid text.
func parse(text []byte) (roots []*yaml.Node, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("yaml: cannot be parsed: %v", cause)
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var root yaml.Node
		switch err := decoder.Decode(&root); {
		case errors.Is(err, io.EOF):
			return roots, nil
		case err != nil:
			return nil, err
		}
		if len(root.Content) == 1 {
			roots = append(roots, &root)
		}
	}
}
