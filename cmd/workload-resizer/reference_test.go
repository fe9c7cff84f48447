package main

import (
	"crypto/tls"
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
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/ratios"
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
	"github.com/workload-resizer/workload-resizer/test/docpage"
)

func TestReference(t *testing.T) {
	t.Run("has the flags", hasTheFlags)
	t.Run("has the reasons and checks", func(t *testing.T) {
		docpage.Generated(t, "docs/reference/reasons.md", map[string]string{"reasons": reasonTable(), "checks": checkTable()})
	})
	t.Run("has the metrics", func(t *testing.T) {
		docpage.Generated(t, "docs/reference/metrics.md", map[string]string{"metrics": metricTable(t)})
	})
	t.Run("has the rights and roles", func(t *testing.T) {
		docpage.Generated(t, "docs/reference/rights.md", map[string]string{"rights": rightTable(), "roles": roleTable(t)})
	})
	t.Run("has the rights to connect", func(t *testing.T) {
		docpage.Generated(t, "docs/reference/connecting.md", map[string]string{"rights to connect": connectTable(t)})
	})
	t.Run("has the errors", func(t *testing.T) {
		docpage.Generated(t, "docs/reference/errors.md", map[string]string{"errors": errorTable()})
	})
	t.Run("lists what to do about each reason", func(t *testing.T) {
		docpage.Generated(t, "KNOWN_ISSUES.md", map[string]string{"reasons": remedyTable()})
	})
}

func hasTheFlags(t *testing.T) {
	docpage.Generated(t, "docs/reference/flags.md", map[string]string{
		"flags of serve": flagTable((&options{}).addTo), "flags of bench-node": flagTable((&benchNodeOptions{}).addTo), "flags of report-usage": flagTable((&reportUsageOptions{}).addTo),
	})
}

// manifests returns the documents of a manifest, each with the comment above it.
func manifests(t *testing.T, file string) []string {
	t.Helper()
	content, err := os.ReadFile("../../deploy/base/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(content), "\n---\n")
}

// roleTable lists the roles for users, with the comments above them.
func roleTable(t *testing.T) string {
	t.Helper()
	var rows [][]string
	for _, text := range manifests(t, "users.yaml") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(text), &role); err != nil {
			t.Fatal(err)
		}
		comment, _, _ := strings.Cut(text, "\napiVersion:")
		var says []string
		for line := range strings.Lines(comment[strings.LastIndex(comment, "\n\n")+1:]) {
			says = append(says, strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")))
		}
		rows = append(rows, []string{"`" + role.Name + "`", strings.TrimSpace(strings.Join(says, " "))})
	}
	return docpage.Table([]string{"ClusterRole", "Meaning"}, rows...)
}

// connectTable lists what users need to reach a server.
func connectTable(t *testing.T) string {
	t.Helper()
	var rows [][]string
	for _, text := range manifests(t, "connect.yaml") {
		var role rbacv1.Role
		if err := yaml.Unmarshal([]byte(text), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			what := "`" + strings.Join(rule.Resources, "`, `") + "`"
			if group := rule.APIGroups[0]; group != "" {
				what += " of `" + group + "`"
			}
			if len(rule.ResourceNames) > 0 {
				what += ", name `" + strings.Join(rule.ResourceNames, "`, `") + "`"
			}
			rows = append(rows, []string{what, "`" + strings.Join(rule.Verbs, "`, `") + "`"})
		}
	}
	return docpage.Table([]string{"Resource", "Verbs"}, rows...)
}

func flagTable(addTo func(*pflag.FlagSet)) string {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	addTo(flags)
	var rows [][]string
	flags.VisitAll(func(f *pflag.Flag) {
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name += ", `-" + f.Shorthand + "`"
		}
		value := ""
		if f.DefValue != "" {
			value = "`" + f.DefValue + "`"
		}
		rows = append(rows, []string{name, value, f.Usage})
	})
	return docpage.Table([]string{"Flag", "Default", "Meaning"}, rows...)
}

func reasonTable() string {
	events := map[contract.Severity]string{contract.Silent: "", contract.Normal: "Normal", contract.Warning: "Warning"}
	var rows [][]string
	for _, info := range contract.Reasons() {
		rows = append(rows, []string{"`" + string(info.Reason) + "`", events[info.Severity], info.Meaning})
	}
	return docpage.Table([]string{"Reason", "Event", "Meaning"}, rows...)
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
	var rows [][]string
	for _, info := range infos {
		more := ""
		if info.See != "" {
			more = " ([more](" + info.See + "))"
		}
		rows = append(rows, []string{"`" + string(info.Reason) + "`", info.Meaning, info.Remedy + more})
	}
	return docpage.Table([]string{"Reason", "Meaning", "Remedy"}, rows...)
}

func errorTable() string {
	var rows [][]string
	for _, r := range rpcerror.Reasons() {
		rows = append(rows, []string{"`" + r.String() + "`", r.CodeName(), r.Meaning()})
	}
	return docpage.Table([]string{"Reason", "Code", "Meaning"}, rows...)
}

// rightTable lists the rights that each method needs. Methods that need the same rights
// share a row.
func rightTable() string {
	all := access.Methods()
	rows := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, rights, roles := all[name], []string{}, []string{}
		for _, right := range m.Rights { // A request may need only one of several.
			rights = append(rights, "`"+right.String()+"`")
			if role := "`" + right.Role() + "`"; !slices.Contains(roles, role) {
				roles = append(roles, role)
			}
		}
		where := "all namespaces"
		switch {
		case m.Exempt:
			rights, roles, where = []string{"none"}, []string{"anyone"}, ""
		case m.Namespaced:
			where = "the namespace of the request"
		}
		row := fmt.Sprintf("%s | %s | %s |", strings.Join(rights, ", "), where, strings.Join(roles, ", "))
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
		Usage: &demand.Usage{}, VPAs: dynamic.NewForConfigOrDie(&rest.Config{}), Prometheus: newQuery(&usageOptions{}), Overload: &reconciler.Overload{}, Evictions: &reconciler.Evictions{Client: client},
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
	server.New(server.Config{Ratios: store, Reconciler: running, Holds: holds, Metrics: registry, Production: newProduction(newProductionSource(&options{}, client, nil), store, nil, nil, nil), GRPC: listeners[0], HTTP: listeners[1], Certificate: &certs.Source{}})

	descs := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(descs)
		close(descs)
	}()
	rows := map[string][]string{}
	for d := range descs {
		if m := desc.FindStringSubmatch(d.String()); m != nil {
			labels := ""
			if m[3] != "" {
				labels = "`" + strings.ReplaceAll(m[3], ",", "`, `") + "`"
			}
			rows[m[1]] = []string{"`" + m[1] + "`", labels, m[2]}
		}
	}
	if len(rows) < 4 {
		t.Fatalf("only %d metrics are registered", len(rows))
	}
	var sorted [][]string
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		sorted = append(sorted, rows[name])
	}
	return docpage.Table([]string{"Metric", "Labels", "Meaning"}, sorted...)
}
