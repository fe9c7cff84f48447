package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

const unreachableCluster = `{apiVersion: v1, kind: Config, current-context: c,
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {}}]}
`

// undecidedCluster has no current context, and none of its contexts selects a cluster.
const undecidedCluster = `{apiVersion: v1, kind: Config,
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], contexts: [{name: d, context: {user: u}}, {name: e, context: {cluster: gone, user: u}}], users: [{name: u, user: {}}]}
`

func TestConnection(t *testing.T) {
	t.Run("selects the server", selectsTheServer)
	t.Run("uses the ServiceAccount of the environment only for clusters", usesTheServiceAccountOfTheEnvironmentOnlyForClusters)
}

func selectsTheServer(t *testing.T) {
	kubeconfig, none := cmdtest.File(t, "config", []byte(unreachableCluster)), filepath.Join(t.TempDir(), "none")
	undecided := cmdtest.File(t, "undecided", []byte(undecidedCluster))
	address := cmdtest.Answering(known()).Serve(t)
	const throughCluster = "get ConfigMap workload-resizer-system/workload-resizer-ca"
	for _, tc := range []struct {
		name, program, server, kubeconfig string
		args                              []string
		want                              string
	}{
		{"the address in the environment", "resizectl", address, kubeconfig, nil, ""},
		{"the cluster of a named context", "resizectl", address, kubeconfig, []string{"--context", "c"}, throughCluster},
		{"a missing context", "resizectl", "", kubeconfig, []string{"--context", "other"}, `context "other" does not exist`},
		{"the cluster of a named Service", "resizectl", "", kubeconfig, []string{"--service", "a/b"}, "get ConfigMap a/workload-resizer-ca"},
		{"the cluster of a named kubeconfig", "resizectl", "", none, []string{"--kubeconfig", kubeconfig}, throughCluster},
		{"the cluster if an audience is named", "resizectl", address, kubeconfig, []string{"--token-audience", "mine"}, throughCluster},
		{"the cluster for kubectl", "kubectl-workload_resizer.exe", "", kubeconfig, nil, throughCluster},
		{"the cluster for kubectl, regardless of the environment", "kubectl-workload_resizer", address, kubeconfig, nil, throughCluster},
		{"an address for kubectl", "kubectl-workload_resizer", "", kubeconfig, []string{"--server", address}, ""},
		{"an address without a server for kubectl", "kubectl-workload_resizer", "", kubeconfig, []string{"--server", cmdtest.Nobody(t)}, "or set another address with --server\n"},
		{"an empty address for kubectl", "kubectl-workload_resizer", "", kubeconfig, []string{"--server", ""}, "--server is empty; set it to an address, or omit it for the server of the cluster\n"},
		{"no cluster", "kubectl-workload_resizer", "", none, nil, "no kubeconfig with a cluster found: set --kubeconfig or KUBECONFIG, or the server's address with --server"},
		{"no current context", "resizectl", "", undecided, []string{"--service", "a/b"}, "the kubeconfig has no current context: set --context to one of d, e\n"},
		{"no current context for kubectl", "kubectl-workload_resizer", "", undecided, nil, "the kubeconfig has no current context: set --context to one of d, e\n"},
		{"a context of a cluster that is missing", "resizectl", "", undecided, []string{"--context", "e"}, "context \"e\" names the cluster \"gone\", which the kubeconfig does not have\n"},
		{"a context without a cluster", "resizectl", "", undecided, []string{"--context", "d"}, "context \"d\" names no cluster: set --cluster\n"},
		{"an empty kubeconfig", "resizectl", "", none, []string{"--kubeconfig", cmdtest.File(t, "empty", nil)}, "empty names no cluster"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("RESIZECTL_SERVER", tc.server)
			t.Setenv("KUBECONFIG", tc.kubeconfig)
			var out, errOut bytes.Buffer
			streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}
			code := run(t.Context(), tc.program, streams, append([]string{"ratios", "list"}, tc.args...))
			if stderr := errOut.String(); tc.want == "" && code != command.ExitOK || !strings.Contains(stderr, tc.want) || strings.Contains(stderr, "KUBERNETES_MASTER") {
				t.Errorf("exit %d, stderr\n%s\nwant\n%s", code, stderr, tc.want)
			}
		})
	}
}

func usesTheServiceAccountOfTheEnvironmentOnlyForClusters(t *testing.T) {
	t.Setenv("RESIZECTL_SERVER", cmdtest.Answering(known()).Serve(t))
	t.Setenv("RESIZECTL_SERVICE_ACCOUNT", "nonsense")
	t.Setenv("KUBECONFIG", cmdtest.File(t, "config", []byte(unreachableCluster)))
	if code, _, stderr := program.Shell(t.Context(), "ratios", "list"); code != command.ExitOK {
		t.Errorf("at an address: exit %d, %s", code, stderr)
	}
	const want = `error: RESIZECTL_SERVICE_ACCOUNT "nonsense" is not NAMESPACE/NAME`
	if code, _, stderr := program.Shell(t.Context(), "ratios", "list", "--context", "c"); code != command.ExitError || !strings.HasPrefix(stderr, want) {
		t.Errorf("in a cluster: exit %d, %s", code, stderr)
	}
}
