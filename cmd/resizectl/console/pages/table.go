package pages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// table is a table of a page.
type table struct {
	// Label is what screen readers call it.
	Label   string
	Columns []column
	Rows    []tableRow
}

type column struct {
	Name, Class string
	// Order is the address of the page in the order of this column; empty if there is none. Sorted is how it is sorted by the column,
	// as in aria-sort; empty if it is not.
	Order, Sorted string
}

type tableRow struct {
	// Key identifies the row among those of the table.
	Key   string
	Cells []cell
}

type cell struct {
	Text, Class, Href string
}

// classes are the styles of cells.
var classes = map[print.Style]string{print.Dim: "dim", print.Red: "bad", print.Notable: "notable", print.Freed: "freed"}

// tableOf returns a table of a command as a table of a page. With wide, it has the columns of -o wide. keyOf identifies a row, and hrefOf
// returns where a cell leads, or "".
func tableOf(of *metav1.Table, wide bool, keyOf func(row int) string, hrefOf func(row int, column, text string) string) table {
	var t table
	shown := map[int]bool{}
	for i, c := range of.ColumnDefinitions {
		if shown[i] = wide || c.Priority == 0; shown[i] {
			t.Columns = append(t.Columns, column{Name: c.Name, Class: classOf(c)})
		}
	}
	for i, r := range of.Rows {
		row := tableRow{Key: keyOf(i)}
		for j, value := range r.Cells {
			if !shown[j] {
				continue
			}
			one := cell{Text: fmt.Sprint(value), Class: classOf(of.ColumnDefinitions[j])}
			if styled, ok := value.(print.Cell); ok && styled.Style != print.Plain {
				one.Class = strings.TrimSpace(one.Class + " " + classes[styled.Style])
			}
			if hrefOf != nil && one.Text != print.Absent {
				one.Href = hrefOf(i, of.ColumnDefinitions[j].Name, one.Text)
			}
			row.Cells = append(row.Cells, one)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// words are the ends of the headers of columns that begin with the name of a resource, and have no amounts of it.
var words = regexp.MustCompile(` (Model|Bounds)$`)

func classOf(c metav1.TableColumnDefinition) string {
	amounts := strings.HasPrefix(c.Name, print.CPU.Title) || strings.HasPrefix(c.Name, print.Memory.Title)
	if c.Type == "integer" || c.Name == "Factor" || amounts && !words.MatchString(c.Name) {
		return "number"
	}
	return ""
}

// segment is part of a message: a time, in the form of the API, or anything else.
type segment struct{ Text, Time string }

var times = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// segments returns text in parts, in which times are apart.
func segments(text string) (parts []segment) {
	for len(text) >= len("2006-01-02T15:04:05Z") {
		at := times.FindStringIndex(text)
		if at == nil {
			break
		}
		if at[0] > 0 {
			parts = append(parts, segment{Text: text[:at[0]]})
		}
		parts, text = append(parts, segment{Time: text[at[0]:at[1]]}), text[at[1]:]
	}
	if text != "" {
		parts = append(parts, segment{Text: text})
	}
	return parts
}

// note is a message, what it is about, and the commands that help.
type note struct {
	Title    string
	Segments []segment
	Bad      bool
	// More is a page that says more; nil if there is none.
	More     *link
	Commands []toCopy
}

// writing are the commands that change something, and can show what they would change.
var writing = regexp.MustCompile(`^(resizectl (restore|pause|resume|freeze|unfreeze|ratios (set|delete|rollback)|benchmark accept)|kubectl (annotate|delete))\b`)

// noteOf returns a note. One of its commands that changes something comes after one that shows what it would change.
func noteOf(o *print.Output, title, text string, commands ...print.Command) note {
	n := note{Title: title, Segments: segments(text)}
	for _, c := range commands {
		n.Commands = append(n.Commands, actions(o, c)...)
	}
	return n
}

// warningNote returns a warning of a command as a note that needs attention.
func warningNote(o *print.Output, text string) note {
	text, bad := strings.CutPrefix(text, "warning: ")
	n := noteOf(o, "", text)
	n.Bad = bad
	return n
}

// present leaves out commands that are none.
func present(all ...print.Command) []print.Command {
	return slices.DeleteFunc(all, func(c print.Command) bool { return c == nil })
}

// toCopy is a command that a page shows. Label tells a command that changes something from its dry run, from which it hardly differs; it is
// empty for commands that only read.
type toCopy struct{ Text, Label string }

// actions returns a command as users must write it, after its dry run if it changes something. There is none of kubectl for a server that
// is called by its address: nothing says to which cluster that belongs, and kubectl would use the current one.
func actions(o *print.Output, c print.Command) []toCopy {
	if c[0] == "kubectl" && o.Commands("kubectl ") == "kubectl " {
		return nil
	}
	if !writing.MatchString(strings.Join(c, " ")) {
		return []toCopy{{Text: o.Command(c)}}
	}
	return []toCopy{{o.Command(append(slices.Clone(c), "--dry-run=server")), "Try"}, {o.Command(c), "Do"}}
}

// steps returns the steps of an explanation.
func steps(o *print.Output, lines []string) []note {
	return eachNote(lines, func(line string) note { return stepOf(o, line) })
}

// stepOf returns a step, "Title: text".
func stepOf(o *print.Output, line string, commands ...print.Command) note {
	title, text, found := strings.Cut(line, ": ")
	if !found {
		title, text = "", line
	}
	return noteOf(o, title, text, commands...)
}

func eachNote[T any](list []T, of func(T) note) []note {
	all := make([]note, 0, len(list))
	for _, one := range list {
		all = append(all, of(one))
	}
	return all
}

// part is a part of a page that the server may refuse while it answers others.
type part[T any] struct {
	Value   T
	Problem string
	// Denied means that the caller has no right to it.
	Denied bool
}
