package main

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Every list has kubectl's formats.
func TestFormats(t *testing.T) {
	t.Run("prints what users select", printsWhatUsersSelect)
	t.Run("prints a list that is empty as one", printsAListThatIsEmptyAsOne)
	t.Run("prints events in columns", printsEventsInColumns)
	t.Run("rejects templates that cannot be printed", rejectsTemplatesThatCannotBePrinted)
}

func printsWhatUsersSelect(t *testing.T) {
	address := cmdtest.Answering(known(), written()).Serve(t)
	manifest := cmdtest.File(t, "deploy.yaml", []byte("kind: Deployment\n"))
	columns := cmdtest.File(t, "columns", []byte("TYPE       CPU\n.nodeType  .cpuPerf\n"))
	template := cmdtest.File(t, "template", []byte("{{range .ratios}}{{.nodeType}} {{end}}"))
	marked := cmdtest.File(t, "marked", []byte("\uFEFF"+"{{range .ratios}}{{.nodeType}} {{end}}"))
	for _, tc := range []struct {
		name, want string
		args       []string
		code       int
	}{
		{"fields of a list", "c3 n2d n4", []string{"ratios", "list", "-o", "jsonpath={.ratios[*].nodeType}"}, 0},
		{"a field that does not exist", "", []string{"ratios", "list", "-o", "jsonpath={.nothing}"}, 0},
		{"fields of rules, which are in the same document", "2", []string{"ratios", "list", "-o", "go-template={{len .rules}}"}, 0},
		{"fields as JSON", "[\n    \"c3\"\n]\n", []string{"ratios", "list", "-o", "jsonpath-as-json={.ratios[0].nodeType}"}, 0},
		{"a template in a file", "c3 n2d n4 ", []string{"ratios", "list", "-o", "go-template-file=" + template}, 0},
		{"a template in a file with a byte order mark", "c3 n2d n4 ", []string{"ratios", "list", "-o", "go-template-file=" + marked}, 0},
		{"columns in a file", "TYPE   CPU\nc3     1.3\nn2d    1\nn4     1.25\n", []string{"ratios", "list", "-o", "custom-columns-file=" + columns}, 0},
		{"columns without headers", "c3    false\nn2d   true\nn4    false\n", []string{"ratios", "list", "--no-headers", "-o", "custom-columns=TYPE:nodeType,BASELINE:{.baseline}"}, 0},
		{"a column without values", "X\n<none>\n<none>\n<none>\n", []string{"ratios", "list", "-o", "custom-columns=X:.x"}, 0},
		{"numbers in order", "nodetype/n2d\nnodetype/n4\nnodetype/c3\n", []string{"ratios", "list", "--sort-by", ".cpuPerf", "-o", "name"}, 0},
		{"text in order", "nodetype/c3\nnodetype/n2d\nnodetype/n4\n", []string{"ratios", "list", "--sort-by", "{.nodeType}", "-o", "name"}, 0},
		{"one object", "NODE TYPE\nn4\n", []string{"ratios", "get", "n4", "-o", "custom-columns=NODE TYPE:.nodeType"}, 0},
		{"a history", "change/1\nchange/2\nchange/3\nchange/4\n", []string{"ratios", "history", "--sort-by", "number", "-o", "name"}, 0},
		{"64-bit integers as numbers", "4 3 2 1", []string{"ratios", "history", "-o", "jsonpath={.changes[?(@.number>0)].number}"}, 0},
		{"plans in order of quantities", "pod/bare\npod/api-0\npod/web-6d4cf56db6-x2x7p\npod/cart-0\n", []string{"plan", "-A", "--sort-by", ".containers[0].desired.requests.cpu", "-o", "name"}, 1},
		{"totals of plans", "resize 1 of 4", []string{"plan", "-A", "-o", "go-template=resize {{.summary.resize}} of {{.summary.pods}}"}, 1},
		{"columns of plans", "POD\napi-0\nbare\nweb-6d4cf56db6-x2x7p\ncart-0\n", []string{"plan", "-A", "-o", "custom-columns=POD:.pod"}, 1},
		{"one plan", "DECISION_ALIGNED", []string{"plan", "api-0", "-o", "jsonpath={.decision}"}, 0},
		{"a manifest", "KIND\nDeployment\nPod\n", []string{"plan", "-f", manifest, "-o", "custom-columns=KIND:.kind"}, 1},
		{"resizes", "STATE\nRESIZE_STATE_ACTUATED\nRESIZE_STATE_DEFERRED\nRESIZE_STATE_INFEASIBLE\n", []string{"resizes", "list", "-A", "-o", "custom-columns=STATE:.state"}, 0},
		{"one resize", "n4", []string{"resizes", "get", "api-0", "-o", "jsonpath={.nodeType}"}, 0},
		{"holds", "HOLD_KIND_PAUSE", []string{"holds", "--sort-by", ".kind", "-o", "jsonpath={.holds[0].kind}"}, 0},
		{"measurements", "BENCHMARK\ncoremark\nbench-node:memory-bandwidth\ncoremark\n", []string{"benchmark", "list", "--sort-by", ".samples", "-o", "custom-columns=BENCHMARK:.benchmark"}, 0},
		{"feeds", "feed/coremark-table\nfeed/lab\nfeed/nightly\nfeed/passmark-scores\n", []string{"benchmark", "feeds", "-o", "name"}, 0},
		{"suggestions", "nodetype/c3\nnodetype/e2\nnodetype/n4\nnodetype/n4@Intel-6-207\n", []string{"ratios", "suggest", "-o", "name"}, 0},
		{"usage in order of what is saved", "WORKLOAD\ncart\ndb\nweb\n", []string{"usage", "-A", "--sort-by", ".saved.cpu", "-o", "custom-columns=WORKLOAD:.workload.name"}, 0},
		{"savings in order", "statefulset/db\nstatefulset/cart\nnamespace/shop\ndeployment/web\n", []string{"usage", "savings", "-A", "--sort-by", ".saved.cpu", "-o", "name"}, 0},
		{"numbers of savings", "4", []string{"usage", "savings", "-A", "-o", "go-template={{if gt .total.pods 0}}{{len .savings}}{{end}}"}, 0},
		{"workloads in order", "WORKLOAD   REASON\ndb         <none>\nweb        AlreadyAligned,NotOwned\n", []string{"workloads", "list", "-A", "--sort-by", ".savings.saved.cpu", "-o", "custom-columns=WORKLOAD:.savings.workload.name,REASON:.pods[*].code"}, 0},
		{"numbers of workloads", "2", []string{"workloads", "list", "-A", "-o", "go-template={{range .workloads}}{{if gt .savings.pods 1}}{{.savings.pods}}{{end}}{{end}}"}, 0},
		{"counts of the history in order", "COUNT\n0\n0\n3\n", []string{"history", "list", "-A", "--sort-by", ".count", "-o", "custom-columns=COUNT:.count"}, 0},
		{"evidence for reverts", "out of memory", []string{"history", "list", "-A", "-o", "jsonpath={.entries[?(@.kind==\"JOURNAL_ENTRY_KIND_REVERT\")].message}"}, 0},
		{"nodes in order of quantities", "node/node-2\nnode/node-10\n", []string{"nodes", "list", "--sort-by", ".resources.cpu.requested", "-o", "name"}, 0},
		{"shares of nodes", "900m", []string{"nodes", "list", "-o", "jsonpath={.nodes[?(@.name==\"node-2\")].resources.cpu.requested}"}, 0},
		{"sources of usage", "source/push\nsource/metrics.k8s.io\nsource/prometheus\n", []string{"usage", "sources", "-o", "name"}, 0},
		{"a status", "v1.2.3", []string{"status", "-o", "jsonpath={.version}"}, 0},
		{"an explanation", "n4", []string{"explain", "api-0", "-o", "go-template={{.plan.nodeType}}"}, 0},
		{"versions", "development", []string{"version", "--client", "-o", "jsonpath={.clientVersion.version}"}, 0},
		{"a pause", "namespace/shop\n", []string{"pause", "-n", "shop", "-o", "name"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append(tc.args, "--server", address)...)
			if code != tc.code || stdout != tc.want {
				t.Errorf("exit %d, stdout %q, want %q, stderr %q", code, stdout, tc.want, stderr)
			}
		})
	}
}

func printsAListThatIsEmptyAsOne(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Plans(&workloadresizerv1.PlanSummary{}))
	code, stdout, stderr := program.Shell(t.Context(), "plan", "-A", "-o", "jsonpath-as-json={.plans}", "--server", server.Serve(t))
	if code != command.ExitOK || stdout != "[\n    []\n]\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func printsEventsInColumns(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*cmdtest.RatioEvent]{Events: cmdtest.RatioEvents()[:4]}))
	const want = "TYPE\nc3\nn4\nn4\n"
	_, stdout, stderr := program.WatchUntil(t, want, "ratios", "list", "-w", "-o", "custom-columns=TYPE:.nodeType", "--server", server.Serve(t))
	if stdout != want || stderr != "" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

func rejectsTemplatesThatCannotBePrinted(t *testing.T) {
	address := cmdtest.Answering(known()).Serve(t)
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"error: sort by .x: no object has this field: name one that -o json shows, such as .baseline\n", []string{"--sort-by", ".x"}},
		{"error: sort by .provenance: the field is a list or an object: name a field in it with a single value\n", []string{"--sort-by", ".provenance"}},
		{"does not fit the answer: array index out of bounds: index 9, length 3; see its fields with -o json\n", []string{"-o", "jsonpath={.ratios[9].nodeType}"}},
		{"<.nodeType.x>: can't evaluate field x; see its fields", []string{"-o", "go-template={{range .ratios}}{{.nodeType.x}}{{end}}"}},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append(append([]string{"ratios", "list"}, tc.args...), "--server", address)...)
		if code != command.ExitError || stdout != "" || !strings.Contains(stderr, tc.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", tc.args, code, stdout, stderr)
		}
	}
}
