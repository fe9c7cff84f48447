package connect

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// opening returns a connection that is being opened with these flags.
func opening(t *testing.T, plugin bool, args ...string) *Connection {
	t.Helper()
	root := &cobra.Command{}
	c := New(root, io.Discard, "", plugin)
	if err := root.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	c.pin()
	return c
}

func TestPin(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	file, other := filepath.Join(folder, "config"), filepath.Join(folder, "other")
	for path, text := range map[string]string{
		file: twoContexts, other: "apiVersion: v1\nkind: Config\ncontexts:\n- {name: split, context: {cluster: c}}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name          string
		plugin        bool
		variables     map[string]string
		args          []string
		kubectl, ours string
	}{
		{"the current context", true, map[string]string{"KUBECONFIG": file}, nil, " --kubeconfig='" + file + "' --context='shop'", " --kubeconfig='" + file + "' --context='shop'"},
		{"a context", false, map[string]string{"KUBECONFIG": file, "RESIZECTL_SERVER": "prod:443"}, []string{"--context", "plain"}, " --kubeconfig='" + file + "' --context='plain'", " --kubeconfig='" + file + "' --context='plain'"},
		{"a file", true, nil, []string{"--kubeconfig", "config"}, " --kubeconfig='" + file + "' --context='shop'", " --kubeconfig='" + file + "' --context='shop'"},
		{"one of several files", true, map[string]string{"KUBECONFIG": other + ":" + file}, nil, " --kubeconfig='" + file + "' --context='shop'", " --kubeconfig='" + file + "' --context='shop'"},
		{"a context in several files", true, map[string]string{"KUBECONFIG": other + ":" + file}, []string{"--context=split"}, " --context='split'", " --context='split'"},
		{"an account", false, map[string]string{"KUBECONFIG": file, "RESIZECTL_SERVICE_ACCOUNT": "ops/ann"}, []string{"--service=a/b"}, " --kubeconfig='" + file + "' --context='shop'", " --kubeconfig='" + file + "' --context='shop' --service='a/b' --service-account-token='ops/ann'"},
		{"a server", false, map[string]string{"KUBECONFIG": file}, []string{"--server=prod:443", "--token-file", "token"}, "", " --server='prod:443' --token-file='" + filepath.Join(folder, "token") + "'"},
		{"the server in a variable", false, map[string]string{"KUBECONFIG": file, "RESIZECTL_SERVER": "prod:443"}, nil, "", " --server='prod:443'"},
		{"the server on this machine", false, map[string]string{"KUBECONFIG": file, "XDG_RUNTIME_DIR": "/run/user/7"}, nil, "", " --server='unix:///run/user/7/workload-resizer.sock'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, name := range []string{"KUBECONFIG", "RESIZECTL_SERVER", "RESIZECTL_TOKEN", "RESIZECTL_SERVICE_ACCOUNT"} {
				t.Setenv(name, tc.variables[name])
			}
			if folder := tc.variables["XDG_RUNTIME_DIR"]; folder != "" {
				t.Setenv("XDG_RUNTIME_DIR", folder)
			}
			c := opening(t, tc.plugin, tc.args...)
			if got, want := c.Commands("kubectl get; resizectl holds", "resizectl"), "kubectl"+tc.kubectl+" get; resizectl"+tc.ours+" holds"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// A kubeconfig that changes after the connection was opened changes neither where it leads nor what users copy.
func TestPinned(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config")
	t.Setenv("RESIZECTL_SERVER", "")
	t.Setenv("KUBECONFIG", file)
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(twoContexts)
	c := opening(t, true)
	before, command := c.identity(), c.Commands("resizectl pause -A", "resizectl")
	write(strings.Replace(twoContexts, "current-context: shop", "current-context: plain", 1))
	if after := c.identity(); before.Context != "shop" || after != before {
		t.Errorf("it led to %+v, and now to %+v", before, after)
	}
	if got := c.Commands("resizectl pause -A", "resizectl"); got != command || c.contextNamespace() != "shop" {
		t.Errorf("%s became %s, in namespace %s", command, got, c.contextNamespace())
	}
}
