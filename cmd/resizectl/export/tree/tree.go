package tree

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/export/edit"
)

// MappingName is the name of files that say where Helm values have the amounts of workloads.
const MappingName = ".resizer.yaml"

// Tree is a directory. Paths in it are relative and have slashes.
type Tree struct {
	Dir   string
	Files map[string]*File
	// Refused is what is not edited, whatever is recommended.
	Refused []Refusal
	// Objects are the objects with pod templates, and patches of these.
	Objects []*Object
	// Mappings are the paths of the files of that name.
	Mappings []string
	kusts    map[string]*kustomization
	placed   []*Placement
}

// File is a file that may be edited.
type File struct {
	Path string
	Text []byte
	Mode fs.FileMode
	// Refused is why nothing in the file is edited; nil if it may be.
	Refused *Refusal
	edits   *edit.File
	faults  []*edit.Fault
	// templates has what Object.Template returns for the objects in each part of the text, by its line.
	templates map[int]template
}

// Refusal is something that is not edited.
type Refusal struct {
	File string
	Line int
	// Object is not edited; it is empty for a whole file.
	Object, Reason string
}

// String implements fmt.Stringer.
func (r *Refusal) String() string {
	what := ""
	if r.Object != "" {
		what = r.Object + ": "
	}
	return fmt.Sprintf("%s:%d: %s%s", r.File, max(r.Line, 1), what, r.Reason)
}

// extensions are the extensions of files that may have manifests.
var extensions = []string{".yaml", ".yml", ".json"}

// most is the size of the largest file that is read. The API server accepts no object of more than 3 MiB.
const most = 16 << 20

// Wanted are the kinds and names of workloads.
type Wanted struct{ Kinds, Names map[string]bool }

// definition is the kind of the largest documents, which have no containers.
var definition = regexp.MustCompile(`(?m)^kind:[ \t]*["']?CustomResourceDefinition\b`)

// in reports whether text may have one of the workloads.
func (w *Wanted) in(text []byte) bool { return mentions(text, w.Names) && w.renamed(text) }

// renamed reports whether text may have one of the workloads under another name.
func (w *Wanted) renamed(text []byte) bool {
	if !bytes.Contains(text, []byte("ontainers")) {
		return false
	}
	for kind := range w.Kinds {
		if bytes.Contains(text, []byte(kind)) {
			return !definition.Match(text) || bytes.Contains(text, []byte("\n---"))
		}
	}
	return false
}

// Read reads a directory. Only documents that may have one of the workloads are parsed, and those that kustomizations
// refer to.
// Files that were refused before, by their path, are not edited.
func Read(dir string, wanted Wanted, refused map[string]Refusal) (*Tree, error) {
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = filepath.EvalSymlinks(real) // It may be a link itself.
	}
	if err != nil {
		return nil, err
	}
	t := &Tree{Dir: real, Files: map[string]*File{}, kusts: map[string]*kustomization{}}
	if err := filepath.WalkDir(real, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return t.visit(name, entry)
	}); err != nil {
		return nil, err
	}
	for _, name := range t.Paths() {
		if isKustomization(name) {
			t.readKustomization(t.Files[name])
		}
	}
	renamed := t.renamed()
	for _, name := range t.Paths() {
		f := t.Files[name]
		if before, ok := refused[name]; ok {
			f.Refused = &before
			t.Refused = append(t.Refused, before)
		}
		if isKustomization(name) {
			continue
		}
		if path.Base(name) == MappingName {
			t.Mappings = append(t.Mappings, name)
			continue
		}
		if f.Refused == nil && f.refuse() {
			t.Refused = append(t.Refused, *f.Refused)
		}
		in := wanted.in
		if renamed[name] {
			in = wanted.renamed
		}
		if f.Refused == nil && in(f.Text) {
			f.parse(in)
			t.Objects = append(t.Objects, objects(f)...)
			t.fault(f)
		}
	}
	t.place()
	return t, nil
}

// Paths returns the paths of all files in their order.
func (t *Tree) Paths() []string {
	names := make([]string, 0, len(t.Files))
	for name := range t.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// visit reads an entry of the directory.
func (t *Tree) visit(name string, entry fs.DirEntry) error {
	at, err := filepath.Rel(t.Dir, name)
	if err != nil {
		return err
	}
	at = filepath.ToSlash(at)
	switch {
	case entry.IsDir() && entry.Name() == ".git":
		return filepath.SkipDir
	case entry.IsDir() && entry.Name() == "charts" && exists(filepath.Join(filepath.Dir(name), "Chart.yaml")):
		t.refuse(at, "these charts are vendored: change their values in the chart that contains them")
		return filepath.SkipDir
	case entry.IsDir():
		return nil
	case entry.Type()&fs.ModeSymlink != 0:
		t.link(name, at)
		return nil
	case !entry.Type().IsRegular():
		return nil
	case strings.HasSuffix(at, ".jsonnet"), strings.HasSuffix(at, ".libsonnet"):
		t.refuse(at, "it is Jsonnet, which computes manifests")
		return nil
	case strings.HasSuffix(at, ".tgz") && path.Base(path.Dir(at)) == "charts":
		t.refuse(at, "it is a packed chart")
		return nil
	case !slices.Contains(extensions, path.Ext(at)) && !isKustomization(at):
		return nil
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	if info.Size() > most {
		t.refuse(at, "it has more than 16 MiB")
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	t.Files[at] = &File{Path: at, Text: text, Mode: info.Mode().Perm()}
	return nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// link refuses a link to outside of the directory. Other links need not be followed.
func (t *Tree) link(name, at string) {
	to, err := filepath.EvalSymlinks(name)
	switch {
	case err != nil:
		t.refuse(at, "it is a link to nothing that can be read")
	case to != t.Dir && !strings.HasPrefix(to, t.Dir+string(filepath.Separator)):
		if info, err := os.Stat(to); err == nil && (info.IsDir() || slices.Contains(extensions, filepath.Ext(name)) || slices.Contains(extensions, filepath.Ext(to))) {
			t.refuse(at, "it is a link that leaves the directory")
		}
	}
}

func (t *Tree) refuse(at, reason string) {
	t.Refused = append(t.Refused, Refusal{File: at, Line: 1, Reason: reason})
}

var (
	sops = regexp.MustCompile(`(?m)^(?:sops:|\s*"sops"\s*:)`)
	ytt  = regexp.MustCompile(`(?m)(?:^|\s)#@`)
	// control is a line of a template that no single document is about.
	control  = regexp.MustCompile(`(?m)^[ \t]*\{\{-?\s*(?:if|else|end|range|with|define|block|template)\b`)
	workload = regexp.MustCompile(`(?m)\bkind["']?:\s*["']?(?:Deployment|StatefulSet|DaemonSet|ReplicaSet|ReplicationController|Job|CronJob|Pod|Rollout)\b`)
)

// refuse reports whether nothing in the file may be edited.
func (f *File) refuse() bool {
	line := func(at []int) int { return 1 + bytes.Count(f.Text[:at[0]], []byte("\n")) }
	if bytes.Contains(f.Text, []byte("sops")) {
		if at := sops.FindIndex(f.Text); at != nil {
			f.Refused = &Refusal{File: f.Path, Line: line(at), Reason: "SOPS signs it: an edit would make its signature wrong"}
			return true
		}
	}
	if bytes.Contains(f.Text, []byte("#@")) {
		if at := ytt.FindIndex(f.Text); at != nil {
			f.Refused = &Refusal{File: f.Path, Line: line(at), Reason: "it is a ytt template (#@)"}
			return true
		}
	}
	if bytes.Contains(f.Text, []byte("{{")) && workload.Match(f.Text) {
		if at := control.FindIndex(f.Text); at != nil {
			f.Refused = &Refusal{File: f.Path, Line: line(at), Reason: "it is a template ({{): map the values that it uses in " + MappingName}
		}
	}
	return f.Refused != nil
}

// parse parses the relevant documents; nil means all.
func (f *File) parse(relevant func([]byte) bool) { f.edits, f.faults = edit.Parse(f.Text, relevant) }

// Documents returns the documents of the file that were parsed, or else all.
func (f *File) Documents() []*edit.Document {
	if f.edits == nil {
		f.parse(nil)
	}
	return f.edits.Documents()
}

// All returns all documents of the file.
func (f *File) All() []*edit.Document {
	if f.edits != nil {
		f.edits.ParseRest()
	}
	return f.Documents()
}

// Edited returns the text with all changes.
func (f *File) Edited() ([]byte, error) {
	if f.edits == nil {
		return f.Text, nil
	}
	return f.edits.Bytes()
}

// fault refuses the parts of a file that are not YAML.
func (t *Tree) fault(f *File) {
	for _, fault := range f.faults {
		reason := "it is not YAML: " + fault.Problem
		if bytes.Contains(f.Text, []byte("${")) {
			reason = "it is not YAML before another tool fills in values (${)"
		}
		if bytes.Contains(f.Text, []byte("{{")) {
			reason = "it is a template ({{): map the values that it uses in " + MappingName
		}
		t.Refused = append(t.Refused, Refusal{File: f.Path, Line: fault.Line, Reason: reason})
	}
}

// mentions reports whether text contains one of the names as a word.
func mentions(text []byte, names map[string]bool) bool {
	for at := 0; at < len(text); {
		begin := at
		for at < len(text) && inName(text[at]) {
			at++
		}
		if at > begin && names[string(text[begin:at])] {
			return true
		}
		if at == begin {
			at++
		}
	}
	return false
}

// inName reports whether a name of an object may contain a character.
func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.'
}
