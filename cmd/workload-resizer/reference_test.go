package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/certs"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

var update = flag.Bool("update", false, "update the tables of the reference")

const (
	reference   = "../../docs/reference.md"
	knownIssues = "../../KNOWN_ISSUES.md"
)

func TestReference(t *testing.T) {
	t.Run("matches the code", matchesTheCode)
	t.Run("lists what to do about each reason", func(t *testing.T) {
		generated(t, knownIssues, map[string]string{"reasons": remedyTable()})
	})
}

// generated checks the tables in a file, or updates them, and returns what the file has to contain.
func generated(t *testing.T, file string, tables map[string]string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(content)
	for name, table := range tables {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		before, rest, ok := strings.Cut(want, begin)
		_, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			t.Fatalf("%s has no section for the %s", file, name)
		}
		want = before + begin + table + end + after
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(content) {
		t.Errorf("%s is out of date, run make generate", file)
	}
	return want
}

func matchesTheCode(t *testing.T) {
	want := generated(t, reference, map[string]string{"flags": flagTable((&options{}).addTo), "bench-node flags": flagTable((&benchNodeOptions{}).addTo), "report-usage flags": flagTable((&reportUsageOptions{}).addTo), "reasons": reasonTable(), "checks": checkTable(), "metrics": metricTable(t), "rights": rightTable(), "errors": errorTable()})
	for _, label := range nodetype.New("").Labels() {
		if !strings.Contains(want, "`"+label+"`") {
			t.Errorf("%s does not name the node label %s", reference, label)
		}
	}
	for _, key := range []string{contract.CPURequest.Key("<container>"), contract.CPULimit.Key("<container>"), contract.MemoryRequest.Key("<container>"),
		contract.MemoryLimit.Key("<container>"), contract.AppliedInstanceType, contract.AppliedAt, contract.Skip} {
		if !strings.Contains(want, "| `"+strings.TrimPrefix(key, contract.Prefix)+"` |") {
			t.Errorf("%s does not have the annotation %s", reference, key)
		}
	}
}

func flagTable(addTo func(*pflag.FlagSet)) string {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	addTo(flags)
	var b strings.Builder
	b.WriteString("| Flag | Default | Meaning |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name += ", `-" + f.Shorthand + "`"
		}
		value := ""
		if f.DefValue != "" {
			value = "`" + f.DefValue + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, value, f.Usage)
	})
	return b.String()
}

func reasonTable() string {
	events := map[contract.Severity]string{contract.Silent: "", contract.Normal: "Normal", contract.Warning: "Warning"}
	var b strings.Builder
	b.WriteString("| Reason | Event | Meaning |\n|---|---|---|\n")
	for _, info := range contract.Reasons() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", info.Reason, events[info.Severity], info.Meaning)
	}
	return b.String()
}

// checkTable lists what a plan checks, in the order of its stages.
func checkTable() string {
	var b strings.Builder
	sizing, restoring := plan.Checks()
	for i, checks := range [][]plan.Check{sizing, restoring} {
		b.WriteString([]string{"| To size a pod | Reasons |\n|---|---|\n", "\n| To restore a pod | Reasons |\n|---|---|\n"}[i])
		for k, check := range checks {
			var reasons []string
			for _, r := range check.Reasons {
				reasons = append(reasons, "`"+string(r)+"`")
			}
			fmt.Fprintf(&b, "| %d. %s | %s |\n", k+1, check.Does, strings.Join(reasons, " "))
		}
	}
	return b.String()
}

// remedyTable lists the reasons by name, for users who look one up.
func remedyTable() string {
	infos := contract.Reasons()
	slices.SortFunc(infos, func(a, b contract.Info) int {
		return strings.Compare(strings.ToLower(string(a.Reason)), strings.ToLower(string(b.Reason)))
	})
	var b strings.Builder
	b.WriteString("| Reason | Meaning | What to do |\n|---|---|---|\n")
	for _, info := range infos {
		more := ""
		if info.See != "" {
			more = " ([more](" + info.See + "))"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s%s |\n", info.Reason, info.Meaning, info.Remedy, more)
	}
	return b.String()
}

func errorTable() string {
	var b strings.Builder
	b.WriteString("| Reason | Code | Meaning |\n|---|---|---|\n")
	for _, r := range rpcerror.Reasons() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r, r.CodeName(), r.Meaning())
	}
	return b.String()
}

// rightTable lists the rights that each method needs. Methods that need the same rights
// share a row.
func rightTable() string {
	all := access.Methods()
	rows := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, rights := all[name], []string{}
		for _, right := range m.Rights {
			rights = append(rights, "`"+right.String()+"`")
		}
		where, role := "all namespaces", "anyone"
		switch {
		case m.Exempt:
			rights, where = []string{"none"}, ""
		case m.Namespaced:
			where = "the namespace of the request"
		}
		if len(m.Rights) > 0 {
			role = "`" + m.Rights[len(m.Rights)-1].Role() + "`"
		}
		row := fmt.Sprintf("%s | %s | %s |", strings.Join(rights, ", "), where, role)
		if name == access.Pprof || name == access.Metrics {
			rows[row] = append(rows[row], "`"+name+"` over HTTP")
			continue
		}
		service, method, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
		rows[row] = append(rows[row], "`"+strings.TrimPrefix(service, "workloadresizer.v1.")+"."+method+"`")
	}
	lines := make([]string, 0, len(rows))
	for row, names := range rows {
		lines = append(lines, fmt.Sprintf("| %s | %s\n", strings.Join(names, ", "), row))
	}
	slices.Sort(lines)
	return "| Method | Rights | Where | Least role |\n|---|---|---|---|\n" + strings.Join(lines, "")
}

var desc = regexp.MustCompile(`fqName: "(workload_resizer_[^"]*)", help: "([^"]*)".*variableLabels: \{([^}]*)\}`)

// metricTable lists what a server registers, in alphabetical order.
func metricTable(t *testing.T) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	store := ratios.NewStore()
	client := kubernetes.NewForConfigOrDie(&rest.Config{})
	holds := hold.New(client, "", "")
	running, err := reconciler.New(reconciler.Config{
		Client: client, Dynamic: dynamic.NewForConfigOrDie(&rest.Config{}), Writer: client, Asker: client, Ratios: store, Holds: holds, Events: loop.NoEvents(), Metrics: registry, Workers: 1,
		Usage: &demand.Usage{}, VPAs: dynamic.NewForConfigOrDie(&rest.Config{}), Objectives: newObjectives(&usageOptions{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	var listeners []net.Listener
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		listeners = append(listeners, l)
	}
	(&creation{listener: listeners[0], tls: &tls.Config{}}).parts(nil, registry)
	server.New(server.Config{Ratios: store, Reconciler: running, Holds: holds, Metrics: registry, GRPC: listeners[0], HTTP: listeners[1], Certificate: &certs.Source{}})

	descs := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(descs)
		close(descs)
	}()
	rows := map[string]string{}
	for d := range descs {
		if m := desc.FindStringSubmatch(d.String()); m != nil {
			labels := strings.Split(m[3], ",")
			rows[m[1]] = fmt.Sprintf("| `%s` | `%s` | %s |\n", m[1], strings.Join(labels, "`, `"), m[2])
		}
	}
	if len(rows) < 4 {
		t.Fatalf("only %d metrics are registered", len(rows))
	}
	var b strings.Builder
	b.WriteString("| Metric | Labels | Meaning |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		b.WriteString(rows[name])
	}
	return b.String()
}
