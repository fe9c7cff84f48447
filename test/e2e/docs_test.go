package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// documentation runs every command in the "console" blocks of the README and the docs:
// the lines that begin with "$ ". They are written for the server of make run, so the
// test starts one where resizectl looks for it, and replaces the address of probes. Programs
// that users have in PATH come from bin.
func (c *cluster) documentation(t *testing.T) {
	runtime, err := os.MkdirTemp("", "e2e-") // The name of a test is too long for the path of a socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(runtime) })
	address := "unix://" + filepath.Join(runtime, "workload-resizer.sock")
	s := c.serveWith(t, localcluster.ServerOptions{Kubeconfig: c.serviceAccount(t), GRPCAddress: address}).ready(t)
	c.awaitSettled(t, s, "") // "plan -A" is one of the commands.
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range commands(string(content)) {
			program, _, _ := strings.Cut(command, " ")
			ran[program] = true
			t.Run(filepath.Base(file)+": "+command, func(t *testing.T) {
				here := strings.ReplaceAll(command, "127.0.0.1:8080", s.HTTPAddress)
				cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", here)
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"), "RESIZECTL_SERVER=", "XDG_RUNTIME_DIR="+runtime, "KUBECONFIG="+c.Kubeconfig)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
	for _, program := range []string{"bin/resizectl", "bin/grpcurl", "bin/kubectl"} {
		if !ran[program] {
			t.Errorf("no example of %s was found", program)
		}
	}
}

// commands returns the commands of the console blocks of a Markdown text.
func commands(markdown string) []string {
	var found []string
	inside := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\n")
		switch command, ok := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && ok:
			found = append(found, command)
		}
	}
	return found
}
