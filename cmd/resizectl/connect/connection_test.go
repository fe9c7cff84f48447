package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
)

func TestConnection(t *testing.T) {
	t.Run("uses the server on this machine by default", usesTheServerOnThisMachineByDefault)
	t.Run("selects the ServiceAccount", selectsTheServiceAccount)
	t.Run("limits streams only by a given timeout", limitsStreamsOnlyByAGivenTimeout)
	t.Run("selects the cluster in commands that users copy", selectsTheClusterInCommandsThatUsersCopy)
	t.Run("says where to look while no server has published its authority", saysWhereToLookWhileNoServerHasPublishedItsAuthority)
	t.Run("says that a credential plugin may ask", saysThatACredentialPluginMayAsk)
}

// They must not change the cluster of the current context.
func selectsTheClusterInCommandsThatUsersCopy(t *testing.T) {
	root := &cobra.Command{}
	c := New(root, io.Discard, "", true)
	const text = "`kubectl delete pod a`, or `resizectl resume -A`"
	if got := c.Commands(text, "resizectl"); got != text {
		t.Errorf("without flags: %s", got)
	}
	for _, tc := range []struct {
		args               []string
		kubectl, resizectl string
	}{
		{[]string{"--kubeconfig", "it's", "--context=b", "--cluster=c", "--user", "d"}, ` --kubeconfig='it'\''s' --context='b' --cluster='c' --user='d'`, ` --kubeconfig='it'\''s' --context='b' --cluster='c' --user='d'`},
		{[]string{"--context", "the resizectl one", "--service=prod/sizes", "--timeout=1s"}, ` --context='the resizectl one'`, ` --context='the resizectl one' --service='prod/sizes'`},
		{[]string{"--server", "prod:443", "--plaintext", "--token-file=a"}, "", ` --server='prod:443' --plaintext='true' --token-file='a'`},
	} {
		root := &cobra.Command{}
		c := New(root, io.Discard, "", true)
		if err := root.ParseFlags(tc.args); err != nil {
			t.Fatal(err)
		}
		if got, want := c.Commands(text, "kubectl workload-resizer"), "`kubectl"+tc.kubectl+" delete pod a`, or `kubectl workload-resizer"+tc.resizectl+" resume -A`"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func usesTheServerOnThisMachineByDefault(t *testing.T) {
	t.Setenv("RESIZECTL_SERVER", "")
	t.Setenv("KUBECONFIG", "leads-to-a-cluster")
	c := New(&cobra.Command{}, io.Discard, "", false)
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/1000")
	if got := c.where(); got != "unix:///run/user/1000/workload-resizer.sock" {
		t.Errorf("uses %s", got)
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("XDG_CACHE_HOME", "/home/ann/.cache")
	if got := c.where(); got != "unix:///home/ann/.cache/workload-resizer/workload-resizer.sock" {
		t.Errorf("without XDG_RUNTIME_DIR: uses %s", got)
	}
}

func selectsTheServiceAccount(t *testing.T) {
	for _, tc := range []struct {
		name, token, account string
		args                 []string
		want                 string
	}{
		{"none by default", "", "", nil, ""},
		{"the one in the environment", "", "a/b", nil, "a/b"},
		{"the flag before the environment", "", "a/b", []string{"--service-account-token", "c/d"}, "c/d"},
		{"the flag before a token in the environment", "secret", "a/b", []string{"--service-account-token", "c/d"}, "c/d"},
		{"none with a token in the environment", "secret", "a/b", nil, ""},
		{"none with a token in a file", "", "a/b", []string{"--token-file", "token"}, ""},
		{"none with a client certificate", "", "a/b", []string{"--client-certificate", "crt", "--client-key", "key"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("RESIZECTL_TOKEN", tc.token)
			t.Setenv("RESIZECTL_SERVICE_ACCOUNT", tc.account)
			root := &cobra.Command{}
			c := New(root, io.Discard, "", false)
			if err := root.PersistentFlags().Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			if got, _ := c.askAs(); got != tc.want {
				t.Errorf("uses %q, want %q", got, tc.want)
			}
		})
	}
}

func saysWhereToLookWhileNoServerHasPublishedItsAuthority(t *testing.T) {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "workload-resizer-ca"}}`)
	}))
	t.Cleanup(api.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: %q}}]\ncontexts: [{name: a, context: {cluster: a}}]\n", api.URL)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	root := &cobra.Command{}
	c := New(root, io.Discard, "", false)
	if err := root.PersistentFlags().Parse([]string{"--kubeconfig", file}); err != nil {
		t.Fatal(err)
	}
	err := c.Call(t.Context(), func(context.Context, *client.Client) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "is not published yet; check whether its pods are ready, and read their logs") {
		t.Errorf("got %v", err)
	}
}

func saysThatACredentialPluginMayAsk(t *testing.T) {
	for mode, want := range map[string]bool{"IfAvailable": true, "Always": true, "Never": false} {
		file := filepath.Join(t.TempDir(), "kubeconfig")
		content := "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: \"https://127.0.0.1:1\"}}]\ncontexts: [{name: a, context: {cluster: a, user: ann}}]\n" +
			"users: [{name: ann, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: login, interactiveMode: " + mode + "}}}]\n"
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		root := &cobra.Command{}
		c := New(root, io.Discard, "", false)
		if err := root.PersistentFlags().Parse([]string{"--context", "a", "--kubeconfig", file}); err != nil {
			t.Fatal(err)
		}
		err := c.explain(status.Error(codes.DeadlineExceeded, "context deadline exceeded"))
		if says := strings.Contains(err.Error(), "credential plugin login asks"); says != want {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

func limitsStreamsOnlyByAGivenTimeout(t *testing.T) {
	for _, tc := range []struct {
		name    string
		args    []string
		limited bool
	}{
		{"no timeout by default", nil, false},
		{"a given timeout", []string{"--timeout", "1m"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := &cobra.Command{}
			c := New(root, io.Discard, "", false)
			if err := root.PersistentFlags().Parse(append(tc.args, "--server", "127.0.0.1:1")); err != nil {
				t.Fatal(err)
			}
			err := c.Stream(t.Context(), func(ctx context.Context, _ *client.Client) error {
				if _, limited := ctx.Deadline(); limited != tc.limited {
					t.Errorf("limited: %v, want %v", limited, tc.limited)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDialCause(t *testing.T) {
	for message, want := range map[string]string{
		`connection error: desc = "transport: Error while dialing: dial tcp [::1]:1: connect: connection refused"`: "dial tcp [::1]:1: connect: connection refused",
		`connection error: desc = "transport: authentication handshake failed: EOF"`:                               "EOF",
		`connection error: desc = "error reading server preface: EOF"`:                                             "error reading server preface: EOF",
		"in other words": "in other words",
	} {
		if got := dialCause(message); got != want {
			t.Errorf("dialCause(%q) = %q, want %q", message, got, want)
		}
	}
}

func TestPauseWhileSeen(t *testing.T) {
	for _, tc := range []struct {
		took time.Duration
		err  error
		want time.Duration
	}{
		{100 * time.Millisecond, nil, 5 * time.Second},
		{2 * time.Second, nil, 18 * time.Second},
		{10 * time.Second, nil, 30 * time.Second},
		{time.Millisecond, errors.New("refused"), 5 * time.Second},
		{30 * time.Second, context.DeadlineExceeded, 15 * time.Second},
	} {
		if got := PauseWhileSeen(tc.took, tc.err); got != tc.want {
			t.Errorf("after %s and %v: %s, want %s", tc.took, tc.err, got, tc.want)
		}
	}
}
