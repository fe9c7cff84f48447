package main_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// binary is the program under test, the one that users get.
var binary string

// kubernetesVersion is the one that the cluster is to have.
var kubernetesVersion string

func TestMain(m *testing.M) {
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func prepare() error {
	var err error
	if binary, err = filepath.Abs("../../bin/testcluster"); err != nil {
		return err
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("find bin/testcluster: %w; run \"make build\"", err)
	}
	module, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	version := regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v\S+)`).FindSubmatch(module)
	if version == nil {
		return errors.New("find the version of k8s.io/kubernetes: it is not in go.mod")
	}
	kubernetesVersion = string(version[1])
	return nil
}

// result is how a command ended.
type result struct {
	stdout, stderr string
	exitCode       int
}

func runCommand(t *testing.T, arguments ...string) result {
	t.Helper()
	var stdout, stderr strings.Builder
	command := exec.Command(binary, arguments...)
	command.Stdout = &stdout
	command.Stderr = &stderr
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatalf("run testcluster %s: %v", strings.Join(arguments, " "), err)
	}
	return result{stdout.String(), stderr.String(), command.ProcessState.ExitCode()}
}

func mustRun(t *testing.T, arguments ...string) result {
	t.Helper()
	result := runCommand(t, arguments...)
	if result.exitCode != 0 {
		t.Fatalf("testcluster %s: exit code %d\n%s", strings.Join(arguments, " "), result.exitCode, result.stderr)
	}
	return result
}

// newDir returns a directory that does not exist yet, for a cluster that is
// taken down at the end of the test.
func newDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cluster")
	t.Cleanup(func() { mustRun(t, "down", "--dir", dir) })
	return dir
}

// upArguments are those that bring a cluster up. It ends with this process, which
// may be killed before it has taken the cluster down; of two owners the last one
// counts.
func upArguments(dir string, more ...string) []string {
	return append([]string{"up", "--dir", dir, "--owner", strconv.Itoa(os.Getpid())}, more...)
}

// up brings a cluster up and returns a client for its user.
func up(t *testing.T, dir string, arguments ...string) *kubernetes.Clientset {
	t.Helper()
	begin := time.Now()
	result := mustRun(t, upArguments(dir, arguments...)...)
	t.Logf("up %v took %.1f s", arguments, time.Since(begin).Seconds())
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if want := kubeconfig + "\n"; result.stdout != want {
		t.Errorf("up printed %q on stdout, want %q", result.stdout, want)
	}
	client, err := kubernetes.NewForConfig(clientConfig(t, kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func clientConfig(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// pids returns the process of each component, from the pid files.
func pids(t *testing.T, dir string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "run", "*.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
		if err != nil {
			t.Fatal(err)
		}
		pids[strings.TrimSuffix(filepath.Base(file), ".pid")] = pid
	}
	return pids
}

// pidOf returns the process of a component that must have one: no pid at all
// would be 0, which means this very process group to kill(2).
func pidOf(t *testing.T, dir, component string) int {
	t.Helper()
	pid, found := pids(t, dir)[component]
	if !found {
		t.Fatalf("%s has no process", component)
	}
	return pid
}

// belongsTo says whether a process lives that is a component of the cluster.
func belongsTo(dir string, pid int) bool {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(content), dir)
}

// processesOf lists all processes whose command line names the directory.
func processesOf(t *testing.T, dir string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && belongsTo(dir, pid) {
			found = append(found, pid)
		}
	}
	return found
}

// eventually waits until the condition returns nil.
func eventually(t *testing.T, timeout time.Duration, condition func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for {
		err := condition(ctx)
		if err == nil {
			return
		}
		// What the end of the time cut short says nothing.
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within %v: %v", timeout, last)
		case <-ticker.C:
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
