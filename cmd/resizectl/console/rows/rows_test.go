package rows

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// workload returns a workload "namespace/Kind/name".
func workload(path string, pods int64, cpu, saved string, counts ...*workloadresizerv1.PodCount) Workload {
	parts := strings.Split(path, "/")
	s := &workloadresizerv1.Savings{
		Namespace: parts[0], Pods: pods,
		Requested: &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: "1Gi"}, Saved: &workloadresizerv1.ResourceAmounts{Cpu: saved},
	}
	if len(parts) > 1 {
		s.Workload = &workloadresizerv1.Workload{Kind: parts[1], Name: parts[2]}
	}
	return &workloadresizerv1.WorkloadSummary{Savings: s, Pods: counts}
}

func count(decision workloadresizerv1.Decision, code string) *workloadresizerv1.PodCount {
	return &workloadresizerv1.PodCount{Decision: decision, Code: code, Pods: 1}
}

const (
	aligned = workloadresizerv1.Decision_DECISION_ALIGNED
	skip    = workloadresizerv1.Decision_DECISION_SKIP
)

func some() *Table {
	throttled := workload("shop/Deployment/web", 10, "900m", "-2", count(aligned, "AlreadyAligned"), count(skip, "NotOwned"))
	throttled.Throttled = 3
	return New([]Workload{
		throttled,
		workload("shop/Deployment/cart", 2, "10", "1500m", count(skip, "Reverted")),
		workload("default/StatefulSet/Web-db", 9, "1500m", "0", count(aligned, "AlreadyAligned")),
		workload("shop", 1, "", "", count(skip, "NotOwned")),
	})
}

func names(w Window) string {
	var all []string
	for _, r := range w.Rows {
		name := r.GetSavings().GetWorkload().GetName()
		if name == "" {
			name = "-"
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func TestWindow(t *testing.T) {
	for _, tc := range []struct{ query, want string }{
		{"", "Web-db - cart web"},
		{"order=name+desc", "web cart - Web-db"},
		{"order=pods", "- cart Web-db web"},
		{"order=pods+desc", "web Web-db cart -"},
		{"order=requested_cpu+desc", "cart Web-db web -"},
		{"order=saved_cpu", "web Web-db - cart"},
		{"order=requested_memory", "Web-db - cart web"},
		{"order=throttled+desc", "web Web-db - cart"},
		{"order=nonsense+desc", "Web-db - cart web"},
		{"namespace=shop", "- cart web"},
		{"namespace=sho", ""},
		{"q=WEB", "Web-db web"},
		{"q=+deployment/c+", "cart"},
		{"q=%3Cscript%3E", ""},
		{"decision=skip", "- cart web"},
		{"decision=aligned&reason=NotOwned", ""},
		{"reason=NotOwned", "- web"},
		{"namespace=shop&decision=aligned&q=w&order=pods", "web"},
		{"from=2", "cart web"},
		{"from=-1", "Web-db - cart web"},
		{"from=400", "Web-db - cart web"},
	} {
		values, err := url.ParseQuery(tc.query)
		if err != nil {
			t.Fatal(err)
		}
		w := some().Window(Parse(values))
		if got := names(w); got != tc.want || w.All != 4 {
			t.Errorf("%q: %q of %d, want %q", tc.query, got, w.All, tc.want)
		}
	}
}

func TestWindowOfMany(t *testing.T) {
	var all []Workload
	for i := range 10_000 {
		all = append(all, workload(fmt.Sprintf("n%d/Deployment/d%04d", i%7, i), int64(i%13), "1", "0"))
	}
	table := New(all)
	for _, tc := range []struct{ from, rows, at int }{{0, 100, 0}, {9900, 100, 9900}, {9950, 50, 9950}, {10_000, 100, 9900}, {1 << 40, 100, 9900}} {
		if w := table.Window(Query{From: tc.from}); len(w.Rows) != tc.rows || w.From != tc.at || w.Matching != 10_000 {
			t.Errorf("from %d: %d rows from %d of %d", tc.from, len(w.Rows), w.From, w.Matching)
		}
	}
	seen := map[string]int{}
	for from := 0; from < 10_000; from += Most {
		for _, r := range table.Window(Query{From: from, Order: "pods", Descending: true}).Rows {
			seen[r.GetSavings().GetWorkload().GetName()]++
		}
	}
	if len(seen) != 10_000 {
		t.Errorf("the windows have %d of 10000 workloads", len(seen))
	}
}

func TestFacets(t *testing.T) {
	table := some()
	if got := table.Namespaces(); !slices.Equal(got, []string{"default", "shop"}) {
		t.Errorf("namespaces %v", got)
	}
	if got := table.Reasons(); !slices.Equal(got, []string{"AlreadyAligned", "NotOwned", "Reverted"}) {
		t.Errorf("reasons %v", got)
	}
}

// TestOwners checks that workloads are found by the names of their pods, which have long names of workloads only in part.
func TestOwners(t *testing.T) {
	long := strings.Repeat("a", 60)
	table := New([]Workload{workload("shop/Deployment/web", 1, "1", "0"), workload("bank/Deployment/web", 1, "1", "0"), workload("shop/Deployment/web-db", 1, "1", "0"), workload("shop/Deployment/"+long, 1, "1", "0")})
	for _, tc := range []struct {
		namespace, pod string
		want           []string
	}{
		{"", "web-5c9-x7k2p", []string{"bank/web", "shop/web"}},
		{"shop", "web-5c9-x7k2p", []string{"shop/web"}},
		{"shop", "Web-db-0", []string{"shop/web", "shop/web-db"}},
		{"", "webx", nil},
		{"", long[:58] + "x7k2p", []string{"shop/" + long}},
		{"", long[:50] + "-100000-x7k2p", []string{"shop/" + long}},
		{"", long[:40] + "-x7k2p", nil},
	} {
		var got []string
		for _, of := range table.Owners(tc.namespace, tc.pod) {
			got = append(got, of.GetSavings().GetNamespace()+"/"+of.GetSavings().GetWorkload().GetName())
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s/%s: %v, want %v", tc.namespace, tc.pod, got, tc.want)
		}
	}
}

func TestQuery(t *testing.T) {
	for _, text := range []string{"", "namespace=shop&order=pods+desc&q=a%26b", "decision=skip&from=100&order=name+desc&reason=NotOwned", "order=saved_cpu"} {
		values, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := Parse(values).Values().Encode(); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	q := Parse(url.Values{"namespace": {"shop"}, "from": {"300"}})
	for _, step := range []struct{ by, want string }{
		{"pods", "namespace=shop&order=pods+desc"}, {"pods", "namespace=shop&order=pods"}, {"name", "namespace=shop"}, {"name", "namespace=shop&order=name+desc"},
	} {
		if q = q.By(step.by); q.Values().Encode() != step.want {
			t.Errorf("by %s: %q, want %q", step.by, q.Values().Encode(), step.want)
		}
	}
	if !q.Filtered() || (Query{Order: "pods", From: 1}).Filtered() {
		t.Error("it does not know what filters")
	}
}
