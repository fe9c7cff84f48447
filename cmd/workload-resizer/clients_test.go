package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestKubeconfig(t *testing.T) {
	const clusters = `clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]`
	for _, tc := range []struct{ name, content, want string }{
		{"is empty", "", "names no cluster"},
		{"is another file", "module example.com/x", "is not a kubeconfig"},
		{"has no current context", clusters + "\ncontexts: [{name: a, context: {cluster: c}}]", "has no current context: select one with kubectl --kubeconfig "},
		{"has a current context that is missing", clusters + "\ncurrent-context: b", `has no context "b", which is its current one`},
		{"has a context of a cluster that is missing", clusters + "\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: d}}]", `has no cluster "d", which its current context "a" names`},
		{"selects a cluster", clusters + "\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: c}}]", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config")
			if err := os.WriteFile(path, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := restConfig(path)
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), "--kubeconfig "+path+" ") || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "KUBERNETES_MASTER") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
