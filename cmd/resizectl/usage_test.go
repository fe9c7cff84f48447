package main

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

func TestUsageErrors(t *testing.T) {
	t.Setenv("RESIZECTL_SERVER", "")
	for _, tc := range []struct {
		name, want string
		args       []string
	}{
		{"an unknown format lists the known formats", "invalid argument \"xml\" for \"-o, --output\" flag: must be one of table, wide, json, yaml, jsonpath, jsonpath-as-json, jsonpath-file, go-template, go-template-file, custom-columns, custom-columns-file, name; see \"resizectl plan --help\"\n", []string{"plan", "-o", "xml"}},
		{"names of what has none", "invalid argument \"name\" for \"-o, --output\" flag: must be one of table, wide, json, yaml, jsonpath, jsonpath-as-json, jsonpath-file, go-template, go-template-file; see \"resizectl status --help\"\n", []string{"status", "-oname"}},
		{"a pod of all namespaces", "a pod is in one namespace: name it with --namespace instead of --all-namespaces; see \"resizectl plan --help\"\n", []string{"plan", "web", "-A"}},
		{"an empty pod is not every pod", "the name of the pod in \"\" is empty: name one POD, TYPE/NAME or TYPE NAME; see \"resizectl plan --help\"\n", []string{"plan", ""}},
		{"an empty namespace is not every namespace", "the namespace is empty; use --all-namespaces for every namespace; see \"resizectl plan --help\"\n", []string{"plan", "-n", ""}},
		{"two pods", "\"a\" and \"b\" are two pods: name one of them, or a workload, such as deployment/web; see \"resizectl plan --help\"\n", []string{"plan", "a", "b"}},
		{"arguments of list", "unexpected argument \"n4\"; see \"resizectl ratios list --help\"\n", []string{"ratios", "list", "n4"}},
		{"an argument instead of a flag", "unexpected argument \"a.yaml\": expected -f FILE; see \"resizectl config validate --help\"\n", []string{"config", "validate", "a.yaml"}},
		{"an argument too many", "too many arguments: expected [NODE_TYPE], not n4 c3; see \"resizectl ratios history --help\"\n", []string{"ratios", "history", "n4", "c3"}},
		{"an empty address is not the default", "--server is empty; set it to an address, or omit it for the one in RESIZECTL_SERVER, or else your own server on this machine\n", []string{"ratios", "list", "--server", ""}},
		{"an empty address for a write", "--server is empty; set it to an address, or omit it for the one in RESIZECTL_SERVER, or else your own server on this machine\n", []string{"ratios", "set", "n4=2", "--yes", "--server="}},
		{"no such state", "--state \"done\" must be one of actuated, pending, in-progress, deferred, infeasible, failed; see \"resizectl resizes list --help\"\n", []string{"resizes", "list", "--state", "done"}},
		{"resizes of an empty namespace", "the namespace is empty; use --all-namespaces for every namespace; see \"resizectl resizes list --help\"\n", []string{"resizes", "list", "-n", ""}},
		{"a watch of an empty namespace", "the namespace is empty; use --all-namespaces for every namespace; see \"resizectl resizes watch --help\"\n", []string{"resizes", "watch", "-n", ""}},
		{"a watch of rules", "--watch cannot be combined with --rules; see \"resizectl ratios list --help\"\n", []string{"ratios", "list", "-w", "--rules"}},
		{"holds of an empty namespace", "the namespace is empty; omit --namespace for every namespace; see \"resizectl holds --help\"\n", []string{"holds", "-n", ""}},
		{"no such kind of entry", "--kind \"restart\" must be one of resize, revert, eviction, breaker, hold, freeze, override, gap; see \"resizectl history list --help\"\n", []string{"history", "list", "--kind", "restart"}},
		{"history of an empty namespace", "the namespace is empty; use --all-namespaces for every namespace; see \"resizectl history watch --help\"\n", []string{"history", "watch", "-n", ""}},
		{"no such decision", "invalid argument \"done\" for \"--decision\" flag: must be one of resize, aligned, skip; see \"resizectl workloads list --help\"\n", []string{"workloads", "list", "--decision", "done"}},
		{"workloads with an empty namespace", "the namespace is empty; use --all-namespaces for every namespace; see \"resizectl workloads list --help\"\n", []string{"workloads", "list", "-n", ""}},
		{"nodes of an empty type", "--node-type is empty; omit it for all nodes; see \"resizectl nodes list --help\"\n", []string{"nodes", "list", "--node-type", ""}},
		{"a format of versions", "invalid argument \"name\" for \"-o, --output\" flag: must be one of json, yaml, jsonpath, jsonpath-as-json, jsonpath-file, go-template, go-template-file; see \"resizectl version --help\"\n", []string{"version", "-o", "name"}},
		{"a configuration and a server", "--config plans on this machine, and --server on a server: set only one of them; see \"resizectl plan --help\"\n", []string{"plan", "-f", "-", "--config", "a", "--server", "b:1"}},
		{"another dry run", "invalid argument \"client\" for \"--dry-run\" flag: must be one of none, server; see \"resizectl pause --help\"\n", []string{"pause", "web", "--dry-run=client"}},
		{"no such color mode", "invalid argument \"yes\" for \"--color\" flag: must be one of auto, always, never; see \"resizectl plan --help\"\n", []string{"plan", "--color", "yes"}},
		{"unknown flag", "unknown flag: --theme; see \"resizectl plan --help\"\n", []string{"plan", "--theme"}},
		{"unknown command", "unknown command \"delete\"; see \"resizectl --help\"\n", []string{"delete"}},
		{"a misspelled command", "unknown command \"paln\": did you mean plan?; see \"resizectl --help\"\n", []string{"paln"}},
		{"unknown command of a group", "unknown command \"remove\"; see \"resizectl ratios --help\"\n", []string{"ratios", "remove"}},
		{"nothing to validate", "name the file to check with -f FILE, or -f - for standard input; see \"resizectl config validate --help\"\n", []string{"config", "validate"}},
		{"negative timeout", "--timeout -1s is negative; use 0 for no limit\n", []string{"plan", "--timeout", "-1s"}},
		{"no such duration", "invalid argument \"soon\" for \"--timeout\" flag: must be a duration, such as 30s, 5m, 48h or 2d; see \"resizectl plan --help\"\n", []string{"plan", "--timeout", "soon"}},
		{"an unknown unit", "invalid argument \"2w\" for \"--for\" flag: must be a duration, such as 30s, 5m, 48h or 2d; see \"resizectl pause --help\"\n", []string{"pause", "web", "--for", "2w"}},
		{"no number", "invalid argument \"latest\" for \"--to\" flag: must be a whole number; see \"resizectl ratios rollback --help\"\n", []string{"ratios", "rollback", "--to", "latest"}},
		{"an unknown short flag", "unknown flag: -n; see \"resizectl status --help\"\n", []string{"status", "-n", "shop"}},
		{"a short flag without a value", "flag needs an argument: -f; see \"resizectl plan --help\"\n", []string{"plan", "-f"}},
		{"no port", "server address \"localhost\" is not host:port: address localhost: missing port in address; " +
			"the address comes from --server or RESIZECTL_SERVER; to use the server of a cluster instead, set --context or --service\n", []string{"plan", "--server", "localhost"}},
		{"an address and a cluster", "--server sets the address of a server, and --context selects the server of a cluster: set only one of them\n", []string{"plan", "--server", "a:1", "--context", "b"}},
		{"half a client certificate", "--client-certificate and --client-key must be set together\n", []string{"plan", "--client-key", "a"}},
		{"two identities", "--token-file and --service-account-token are two identities: set only one of them\n", []string{"plan", "--token-file", "a", "--service-account-token", "b/c"}},
		{"certificates in plaintext", "--plaintext uses no certificates: it cannot be combined with --certificate-authority, --tls-server-name or --client-certificate\n", []string{"plan", "--plaintext", "--tls-server-name", "a"}},
		{"a Service without a namespace", "--service \"web\" is not NAMESPACE/NAME, such as workload-resizer-system/workload-resizer\n", []string{"plan", "--service", "web"}},
		{"a ServiceAccount without a name", "--service-account-token \"shop/\" is not NAMESPACE/NAME, such as workload-resizer-system/workload-resizer\n", []string{"plan", "--service-account-token", "shop/"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), tc.args...)
			if code != command.ExitError || stdout != "" || stderr != "error: "+tc.want {
				t.Errorf("exit %d, stdout %q, stderr\n%s\nwant\nerror: %s", code, stdout, stderr, tc.want)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	t.Run("prints the same help for all requests of it", printsTheSameHelpForAllRequestsOfIt)
}

// The help itself is in the reference.
func printsTheSameHelpForAllRequestsOfIt(t *testing.T) {
	for _, tc := range []struct{ ask, alike []string }{
		{nil, []string{"--help"}},
		{[]string{"ratios"}, []string{"ratios", "--help"}},
		{[]string{"help", "plan"}, []string{"plan", "--help"}},
	} {
		code, stdout, stderr := program.Shell(t.Context(), tc.ask...)
		if _, want, _ := program.Shell(t.Context(), tc.alike...); code != command.ExitOK || stderr != "" || stdout != want || stdout == "" {
			t.Errorf("%q: exit %d, stderr %q, stdout\n%s", tc.ask, code, stderr, stdout)
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, stderr := program.Shell(t.Context(), "completion", shell); code != command.ExitOK || stdout == "" || stderr != "" {
			t.Errorf("%s: exit %d, %d bytes, stderr %q", shell, code, len(stdout), stderr)
		}
	}
	_, stdout, _ := program.Shell(t.Context(), "__complete", "plan", "-o", "")
	if want := strings.Join(print.NamingFormats, "\n") + "\n:4\n"; stdout != want {
		t.Errorf("formats are completed as %q, want %q", stdout, want)
	}
}
