package connect

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
)

const twoContexts = `apiVersion: v1
kind: Config
current-context: shop
clusters:
- {name: c, cluster: {server: "https://127.0.0.1:1"}}
contexts:
- {name: shop, context: {cluster: c, namespace: shop}}
- {name: plain, context: {cluster: c}}
`

func TestNamespace(t *testing.T) {
	for _, tc := range []struct {
		name       string
		plugin     bool
		kubeconfig string
		args       []string
		want       string
	}{
		{"comes from the current context for kubectl", true, twoContexts, nil, "shop"},
		{"comes from the current context for the server of a cluster", false, twoContexts, []string{"--service", "a/b"}, "shop"},
		{"comes from the named context", false, twoContexts, []string{"--context", "shop"}, "shop"},
		{"is default for a context without one", true, twoContexts, []string{"--context", "plain"}, "default"},
		{"is default for the server on this machine", false, twoContexts, nil, "default"},
		{"is default for a server at an address", true, twoContexts, []string{"--server", "localhost:1"}, "default"},
		{"is default if the context is missing", true, twoContexts, []string{"--context", "none"}, "default"},
		{"is default if the kubeconfig cannot be read", true, "{", nil, "default"},
		{"is the one that is set", true, twoContexts, []string{"-n", "other"}, "other"},
		{"stays empty if it is set so", true, twoContexts, []string{"--namespace", ""}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("RESIZECTL_SERVER", "")
			file := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(file, []byte(tc.kubeconfig), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KUBECONFIG", file)
			var got string
			var set bool
			root := &cobra.Command{Use: "resizectl"}
			New(root, io.Discard, "", tc.plugin)
			pods := &cobra.Command{Use: "pods", Run: func(cmd *cobra.Command, _ []string) { set = cmd.Flags().Changed("namespace") }}
			AddNamespaceFlag(pods, &got, "namespace of the pods")
			root.AddCommand(pods)
			root.SetArgs(append([]string{"pods"}, tc.args...))
			if err := root.Execute(); err != nil {
				t.Fatal(err)
			}
			if wantSet := len(tc.args) > 0 && (tc.args[0] == "-n" || tc.args[0] == "--namespace"); got != tc.want || set != wantSet {
				t.Errorf("namespace %q, set: %t; want %q, %t", got, set, tc.want, wantSet)
			}
		})
	}
}

func TestOtherNamespaceFlags(t *testing.T) {
	t.Run("keep their default", func(t *testing.T) {
		got := "unchanged"
		root := &cobra.Command{Use: "resizectl"}
		New(root, io.Discard, "", true)
		holds := &cobra.Command{Use: "holds", Run: func(*cobra.Command, []string) {}}
		holds.Flags().StringVarP(&got, "namespace", "n", "", "list only the holds of this namespace")
		root.AddCommand(holds)
		root.SetArgs([]string{"holds"})
		if err := root.Execute(); err != nil || got != "" {
			t.Errorf("namespace %q, %v", got, err)
		}
	})
}
