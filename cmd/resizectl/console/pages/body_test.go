package pages

import (
	"html/template"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/live"
)

// rowsAsTemplate writes the rows of a table as html/template does.
var rowsAsTemplate = template.Must(template.New("").Parse(`<table><tbody>{{range .Rows}}<tr data-key="{{.Key}}">{{range .Cells}}<td{{if .Class}} class="{{.Class}}"{{end}}>{{if .Href}}<a href="{{.Href}}">{{.Text}}</a>{{else}}{{.Text}}{{end}}</td>{{end}}</tr>{{end}}</tbody></table>`))

// TestBodyEscapes checks that browsers read names of others in rows as html/template would have them read.
func TestBodyEscapes(t *testing.T) {
	for _, name := range []string{
		"web", "", " ", `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onclick='alert(1)`, "`", "a&lt;b", "&amp;amp;", "&#60;b&#62;", "</td></tr></table><b>", "<!--", "]]>",
		"a\x00b", "\xff\xfe", "\u202ereversed", "{{.Name}}", "a\nb\tc", "javascript:alert(1)", "=1+1", "ünï", "<a href=javascript:alert(1)>x", `x" autofocus onfocus="alert(1)`,
	} {
		of := table{Columns: []column{{Name: "Name"}}, Rows: []tableRow{
			{Key: name, Cells: []cell{{Text: name, Class: name}, {Text: name, Href: workloadPath("shop", nil)}, {Text: name, Href: podPath("shop", name)}, {Text: name, Href: typePath(name)}}},
		}}
		var want strings.Builder
		if err := rowsAsTemplate.Execute(&want, of); err != nil {
			t.Fatal(err)
		}
		a, err := live.Tree(want.String())
		if err != nil {
			t.Fatal(err)
		}
		b, err := live.Tree("<table><tbody>" + string(of.Body()) + "</tbody></table>")
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Errorf("%q becomes\n%s, want\n%s", name, b, a)
		}
	}
}

// TestBodyLeadsToPages checks that a row leads to nothing but pages of the console, and has times for the browser to show.
func TestBodyLeadsToPages(t *testing.T) {
	for href, want := range map[string]string{
		"/pods/a/b": `<a href="/pods/a/b">x</a>`, "": "x", "javascript:alert(1)": "x", "//evil.example": "x", `/\evil.example`: "x", "https://evil.example/": "x", "pods": "x",
	} {
		of := table{Rows: []tableRow{{Key: "k", Cells: []cell{{Text: "x", Href: href}}}}}
		if got := string(of.Body()); got != `<tr data-key="k"><td>`+want+`</td></tr>` {
			t.Errorf("%q: %s", href, got)
		}
	}
	of := table{Rows: []tableRow{{Key: "k", Cells: []cell{{Text: "since 2026-01-02T03:04:05Z, <b>", Class: "number"}}}}}
	if got, want := string(of.Body()), `<tr data-key="k"><td class="number">since <time datetime="2026-01-02T03:04:05Z" title="2026-01-02T03:04:05Z">2026-01-02T03:04:05Z</time>, &lt;b&gt;</td></tr>`; got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}
