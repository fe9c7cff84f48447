package e2e

import (
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// documentation runs every command in the "console" blocks of the README and of all pages in docs:
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
	ran, folders := map[string]bool{}, map[string]bool{}
	for _, file := range pages(t, root) {
		content, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range commands(string(content)) {
			program, _, _ := strings.Cut(command, " ")
			ran[program], folders[filepath.Dir(file)] = true, true
			t.Run(file+": "+command, func(t *testing.T) {
				here := strings.ReplaceAll(command, "127.0.0.1:7444", s.HTTPAddress)
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
	for _, folder := range []string{".", "docs/concepts", "docs/tasks"} {
		if !folders[folder] {
			t.Errorf("no example in %s was found", folder)
		}
	}
}

// pages returns the README and the pages in docs, relative to the root.
func pages(t *testing.T, root string) []string {
	t.Helper()
	found := []string{"README.md"}
	if err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			path, err = filepath.Rel(root, path)
			found = append(found, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// commands returns the commands of the console blocks of a Markdown text, those in lists, too.
func commands(markdown string) []string {
	var found []string
	inside := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		switch command, ok := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && ok:
			found = append(found, command)
		}
	}
	return found
}

// TestRunbooks runs the commands in alerts, runbooks, known issues and remedies of reasons, with the
// names of a pod and its node in place of the words that stand for them.
func TestRunbooks(t *testing.T) {
	t.Parallel()
	c := newCluster(localcluster.ForTest(t, "n2d=1,n4=1"))
	c.install(t)
	c.apply(t, promptConfig())
	runtime, err := os.MkdirTemp("", "e2e-") // The name of a test is too long for the path of a socket.
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(runtime) })
	s := c.serveWith(t, localcluster.ServerOptions{Kubeconfig: c.serviceAccount(t), GRPCAddress: "unix://" + filepath.Join(runtime, "workload-resizer.sock")}).ready(t)
	_, port, err := net.SplitHostPort(s.HTTPAddress)
	if err != nil {
		t.Fatal(err)
	}
	c.apply(t, localcluster.BehindService(deploy.Namespace, port), deployment("shop", "web"))
	c.awaitRunning(t, "shop", 1)
	c.awaitCPU(t, "shop", "web", "80m")
	c.awaitSettled(t, s, "")
	pod := c.one(t, "shop", "web")
	administered(t, c, "kubectl taint nodes "+pod.Spec.NodeName+" "+contract.StartupTaint+"=:PreferNoSchedule") // One of the commands removes it.
	root, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for command := range notRun {
		unused[command] = true
	}
	for _, command := range advised(t, root) {
		delete(unused, command)
		if notRun[command] == justAName {
			continue
		}
		t.Run(command, func(t *testing.T) {
			typed := strings.NewReplacer("-n workload-resizer-system describe pod POD", "-n workload-resizer-system describe pod workload-resizer", "logs POD", "logs workload-resizer", "POD", pod.Name, "WORKLOAD", "deployment/web", "NAMESPACE", "shop", "NODE", pod.Spec.NodeName, "TYPE=CPU/MEMORY", "t2d=1.1/1",
				"REASON", "new", "SCOPE", "-n shop", "FILE", "deploy/samples/config.yaml", "kubectl workload-resizer", "resizectl").Replace(command)
			if strings.HasPrefix(typed, "resizectl unfreeze") || strings.HasPrefix(typed, "resizectl ratios set") || strings.HasPrefix(typed, "resizectl resume -A") || strings.HasPrefix(typed, "resizectl restore -A") {
				typed += " --yes" // A user is asked.
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", typed)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"), "RESIZECTL_SERVER=", "XDG_RUNTIME_DIR="+runtime, "KUBECONFIG="+c.Kubeconfig, "KUBE_EDITOR=true")
			out, err := cmd.CombinedOutput()
			want := notRun[command]
			switch {
			case want != "" && (err == nil || !strings.Contains(string(out), want)):
				t.Errorf("%v, want %q\n%s", err, want, out)
			case want == "" && err != nil:
				t.Errorf("%s: %v\n%s", typed, err, out)
			}
		})
	}
	for command := range unused {
		t.Errorf("nothing advises %q", command)
	}
}

// justAName means that a command is only named, without how to call it.
const justAName = "just a name"

// notRun has the commands that cannot succeed here: their error or, for those that are only named,
// justAName.
var notRun = map[string]string{
	"kubectl workload-resizer": justAName,
	"kubectl annotate":         justAName,
	"resizectl explain":        justAName,
	"resizectl pause":          justAName,
	"resizectl ratios set":     justAName,
	"resizectl restore":        justAName,
	"resizectl resume":         justAName,
	// No metrics-server runs here.
	"kubectl get --raw /apis/metrics.k8s.io/v1beta1/pods": "the server could not find the requested resource",
	// No VerticalPodAutoscaler is installed here.
	"kubectl describe vpa NAME -n NAMESPACE": `the server doesn't have a resource type "vpa"`,
	// The server of this test is outside of the cluster. TestCheck has the findings.
	"kubectl workload-resizer check":                                                 "failure",
	"kubectl -n workload-resizer-system describe certificate":                        `the server doesn't have a resource type "certificate"`,
	"kubectl -n workload-resizer-system logs deployment/workload-resizer --previous": "Error from server",
	"kubectl -n workload-resizer-system logs POD --previous":                         "Error from server",
}

var (
	code   = regexp.MustCompile("`((?:kubectl|resizectl)\\s[^`]+)`")
	quoted = regexp.MustCompile(`"((?:kubectl|resizectl) [^"]+)"`)
)

// advised returns the commands in the texts, those that delete something last.
func advised(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	in := func(text string, as *regexp.Regexp) {
		n := len(found)
		for _, m := range as.FindAllStringSubmatch(text, -1) {
			found = append(found, strings.Join(strings.Fields(m[1]), " "))
		}
		if len(found) == n {
			t.Errorf("no command is in the text %.50q…", text)
		}
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	in(read("docs/reference/alerts.md"), code)
	in(read("KNOWN_ISSUES.md"), code)
	in(read("deploy/monitoring/alerts.yaml"), quoted)
	var remedies strings.Builder
	for _, info := range contract.Reasons() {
		remedies.WriteString(info.Remedy + "\n")
	}
	in(remedies.String(), code)
	deletes := func(command string) bool { return strings.Contains(command, " delete ") }
	slices.Sort(found)
	found = slices.Compact(found)
	return append(slices.DeleteFunc(slices.Clone(found), deletes), slices.DeleteFunc(found, func(c string) bool { return !deletes(c) })...)
}
