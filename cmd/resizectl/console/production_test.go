package console

import (
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestProduction checks what the page of a node type shows of production in each of its states, for people who do not know statistics.
func TestProduction(t *testing.T) {
	table := cmdtest.Ratios()
	for _, s := range cmdtest.Production() {
		if s.GetCurrent() != nil {
			table.Ratios = append(table.Ratios, s.GetCurrent())
		}
	}
	r := start(t, cmdtest.Answering(scripted(), cmdtest.Table(table), cmdtest.Returns(&workloadresizerv1.ListSuggestionsResponse{Suggestions: cmdtest.Production()})).Serve(t))
	for _, tc := range []struct {
		nodeType   string
		has, lacks []string
	}{
		{"first-day", []string{
			"14 workloads were compared for too few hours so far (TooFewHours): wait for about 3 days", "which take about 3 days", "(in effect)",
		}, []string{"production, on average", "Accept what production shows", "cases"}},
		{"good", []string{
			"<b>In short:</b> Production shows 1.24, and does not contradict the ratio in effect: configmap has 1.25.",
			"production, on average", "1.24 (1.22 to 1.26)", "production, one more workload", "1.24 (1.13 to 1.36)",
			"42 workloads on 12 nodes, each in about 73 busy hours", "2 workloads take their work from a queue", "3 workloads: FromANewerServer",
		}, []string{"Accept what production shows", "3100", "add this to the configuration", "Workloads that differ"}},
		{"held-back", []string{"production, on average, held back", "at least 3 of each are needed", "±14.2%"}, []string{"Accept what production shows"}},
		{"contradicts", []string{
			"production contradicts the ratio in effect: configmap has 1.25, production shows 1.08", "benchmark: 1.3 is outside of what is likely",
			"Accept what benchmarks suggest, although production contradicts it", "1 = n2d</text>", "resizectl benchmark accept contradicts --from production --dry-run", `href="/plans?plan=1&ratios=contradicts%3D1.08%2F1"`, "<h3>What benchmarks suggest</h3>", "<h3>What production shows</h3>",
		}, nil},
		{"no-usage", []string{"NoUsage", "--usage-sources"}, []string{"production, on average"}},
		{"singles", []string{
			"<h3>Workloads that differ</h3>", "Deployment web in namespace shop: 1.5 (1.438 to 1.562)", "With a rule, their pods get their own ratio", "no label tells its pods from others",
			"add this to the configuration", `match: { namespace: "shop", podLabel: { "app.kubernetes.io/name": "web" } }`, `data-copy="overrides:`,
		}, nil},
		{"unnamed", []string{"no source has a ratio for unnamed", "resizectl benchmark accept unnamed --from production --dry-run"}, []string{"(in effect"}},
	} {
		_, body := r.get("/nodes?" + url.Values{"type": {tc.nodeType}}.Encode())
		body = html.UnescapeString(body)
		// The commands and lists of all types are elsewhere on the page.
		_, body, _ = strings.Cut(body, "<h2>How fast ")
		for _, want := range tc.has {
			if !strings.Contains(strings.ToLower(body), strings.ToLower(want)) {
				t.Errorf("type %s: there is no %q:\n%s", tc.nodeType, want, body)
			}
		}
		for _, no := range tc.lacks {
			if strings.Contains(body, no) {
				t.Errorf("type %s: there is %q:\n%s", tc.nodeType, no, body)
			}
		}
	}
	_, body := r.get("/nodes")
	if body = html.UnescapeString(body); !strings.Contains(body, "production 1.24/1 (only shown)") {
		t.Errorf("the list of ratios does not have what production shows:\n%s", body)
	}
}
