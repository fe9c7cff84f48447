package pages

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/console/rows"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// mostFound is how many workloads, pods or nodes a search lists.
const mostFound = 50

// searched is what a search looks at.
type searched struct {
	workloads part[*rows.Table]
	nodes     part[[]*workloadresizerv1.NodeSummary]
}

var searchPage = page{
	pattern: "/search", template: "search",
	title: func(r *http.Request) string {
		if text := searchText(r); text != "" {
			return "Search: " + print.OneLine(text)
		}
		return "Search"
	},
	key: soughtOnly, // Other searches look at the same.
	read: func(ctx context.Context, c *client.Client, r *http.Request) (any, error) {
		var all searched
		var parts errgroup.Group
		read(ctx, &parts, &all.workloads, func() (*rows.Table, error) { return allWorkloads(ctx, c, soughtOnly(r)) })
		read(ctx, &parts, &all.nodes, func() ([]*workloadresizerv1.NodeSummary, error) { return allNodes(ctx, c) })
		return &all, parts.Wait()
	},
	view: func(_ *print.Output, value any, r *http.Request) any { return found(value.(*searched), searchText(r)) },
	narrow: func(r *http.Request, value any) string {
		if !value.(*searched).workloads.Denied || soughtOnly(r) != "" || soughtIn(searchText(r)).namespace == "" {
			return ""
		}
		return path(r.URL.Path, url.Values{"q": {searchText(r)}, "only": {"1"}})
	},
}

// soughtOnly returns the only namespace in which a search looks for workloads; empty for all.
func soughtOnly(r *http.Request) string {
	if r.URL.Query().Get("only") == "" {
		return ""
	}
	return soughtIn(searchText(r)).namespace
}

func searchText(r *http.Request) string { return strings.TrimSpace(r.URL.Query().Get("q")) }

// sought is what people look for, in the forms that commands print and take: NAME, NAMESPACE/NAME, TYPE/NAME, NAMESPACE/TYPE/NAME.
type sought struct{ namespace, kind, name string }

// soughtIn parses the words of a search, which are divided by slashes or, as two columns of a table, by a space. It returns them in lower case, except kinds that are known. Of two words, the first one may be a
// type or a namespace: a type that is not known is a kind if it is written like one, such as Rollout.
func soughtIn(text string) (w sought) {
	if words := strings.Fields(text); len(words) == 2 {
		text = strings.Join(words, "/")
	}
	parts := strings.Split(text, "/")
	w.name = strings.ToLower(parts[len(parts)-1])
	of := parts[:len(parts)-1]
	if len(of) > 1 {
		w.namespace, w.kind = strings.ToLower(of[0]), strings.ToLower(of[1])
	}
	if len(of) == 0 {
		return w
	}
	typ, _, _ := strings.Cut(of[len(of)-1], ".")
	switch kind := command.KindNamed(typ); {
	case strings.TrimSuffix(strings.ToLower(typ), "s") == "node":
		w.kind = "Node"
	case kind != "":
		w.kind = kind
	case len(of) == 1:
		w.namespace = strings.ToLower(of[0])
	}
	return w
}

// may reports whether it may be of a kind.
func (w sought) may(kind string) bool { return w.kind == "" || w.kind == kind }

// foundView is what a search has found.
type foundView struct {
	Text                                       string
	Workloads, Pods, Nodes, Namespaces         []match
	MoreWorkloads, MorePods, MoreNodes         bool
	WorkloadProblem, NodeProblem, AllWorkloads string
	// Elsewhere means that the caller may not see all workloads, but perhaps those of a namespace.
	Elsewhere bool
	// Bare is the page of a pod with this name, if there is one without a workload; empty without a namespace.
	Bare string
}

// match is something that was found, and what it would belong to; nil if that is not said.
type match struct {
	Name, Path string
	Of         *match
}

// Nothing reports whether all workloads were read, and nothing was found.
func (v *foundView) Nothing() bool {
	return v.WorkloadProblem == "" && len(v.Workloads)+len(v.Pods)+len(v.Nodes)+len(v.Namespaces) == 0
}

func found(all *searched, text string) *foundView {
	v := &foundView{Text: text, WorkloadProblem: all.workloads.Problem, NodeProblem: all.nodes.Problem, Elsewhere: all.workloads.Denied && soughtIn(text).namespace == ""}
	if text == "" {
		return v
	}
	w := soughtIn(text)
	if t := all.workloads.Value; t != nil {
		v.findWorkloads(t, w)
		v.findPods(t, w)
	}
	for _, n := range all.nodes.Value {
		if !w.may("Node") || w.namespace != "" || !strings.Contains(strings.ToLower(n.GetName()), w.name) {
			continue
		}
		if v.MoreNodes = len(v.Nodes) == mostFound; v.MoreNodes {
			break
		}
		v.Nodes = append(v.Nodes, match{Name: n.GetName(), Path: nodePath(n.GetName())})
	}
	return v
}

// findWorkloads finds namespaces, and workloads by a part of their names.
func (v *foundView) findWorkloads(t *rows.Table, w sought) {
	for _, namespace := range t.Namespaces() {
		if namespace == strings.ToLower(v.Text) {
			v.Namespaces = append(v.Namespaces, match{Name: namespace, Path: path("/workloads", url.Values{"namespace": {namespace}})})
		}
	}
	if w.kind == "Pod" || w.kind == "Node" {
		return
	}
	q := rows.Query{Namespace: w.namespace, Text: w.name}
	if w.kind != "" {
		q.Text = strings.ToLower(w.kind) + "/" + w.name
	}
	found := t.Window(q)
	for _, of := range found.Rows[:min(len(found.Rows), mostFound)] {
		v.Workloads = append(v.Workloads, matchOf(of))
	}
	if v.MoreWorkloads = found.Matching > mostFound; v.MoreWorkloads {
		v.AllWorkloads = path("/workloads", q.Values())
	}
}

// findPods finds the pods that may have this name: names of most pods begin with those of their workloads.
func (v *foundView) findPods(t *rows.Table, w sought) {
	if !w.may("Pod") {
		return
	}
	owners := t.Owners(w.namespace, w.name)
	v.MorePods = len(owners) > mostFound
	for _, of := range owners[:min(len(owners), mostFound)] {
		namespace := of.GetSavings().GetNamespace()
		v.Pods = append(v.Pods, match{namespace + "/" + w.name, podPath(namespace, w.name), new(matchOf(of))})
	}
	if len(owners) == 0 && w.namespace != "" && w.name != "" && len(v.Workloads)+len(v.Namespaces) == 0 {
		v.Bare = podPath(w.namespace, w.name)
	}
}

func matchOf(w rows.Workload) match {
	s := w.GetSavings()
	return match{Name: s.GetNamespace() + "/" + print.WorkloadName(s.GetWorkload()), Path: workloadPath(s.GetNamespace(), s.GetWorkload())}
}
