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

// kubernetesVersion is the version that the cluster must have.
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

// result is the outcome of a command.
type result struct {
	stdout, stderr string
	exitCode       int
}

func runCommand(t testing.TB, arguments ...string) result {
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

func mustRun(t testing.TB, arguments ...string) result {
	t.Helper()
	result := runCommand(t, arguments...)
	if result.exitCode != 0 {
		t.Fatalf("testcluster %s: exit code %d\n%s", strings.Join(arguments, " "), result.exitCode, result.stderr)
	}
	return result
}

// newDir returns a directory that does not exist yet. The cluster in it is taken down at
// the end of the test.
func newDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cluster")
	t.Cleanup(func() { mustRun(t, "down", "--dir", dir) })
	return dir
}

// upArguments returns the arguments that bring a cluster up. The cluster ends with this
// process, which may be killed before it takes the cluster down. If there are two --owner
// flags, the last one counts.
func upArguments(dir string, more ...string) []string {
	return append([]string{"up", "--dir", dir, "--owner", strconv.Itoa(os.Getpid())}, more...)
}

// up brings a cluster up and returns a client for its user.
func up(t testing.TB, dir string, arguments ...string) *kubernetes.Clientset {
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

func clientConfig(t testing.TB, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

// pids returns the pid of each component, from the pid files.
func pids(t testing.TB, dir string) map[string]int {
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

// pidOf returns the pid of a component. It fails the test if there is none: to kill(2), a
// pid of 0 would mean this process group.
func pidOf(t *testing.T, dir, component string) int {
	t.Helper()
	pid, found := pids(t, dir)[component]
	if !found {
		t.Fatalf("%s has no process", component)
	}
	return pid
}

// belongsTo reports whether the pid is a live process of the cluster.
func belongsTo(dir string, pid int) bool {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(content), dir)
}

// processesOf lists all processes whose command line names the directory.
func processesOf(t testing.TB, dir string) []int {
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
func eventually(t testing.TB, timeout time.Duration, condition func(context.Context) error) {
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
		// An error caused by the timeout says nothing.
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
