package localcluster

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// orphanVariable contains a kubeconfig's path and makes the test binary a program that starts a
// server with that kubeconfig, prints the server's PID, and waits to be killed.
const orphanVariable = "LOCALCLUSTER_TEST_ORPHAN"

func TestMain(m *testing.M) {
	kubeconfig := os.Getenv(orphanVariable)
	if kubeconfig == "" {
		os.Exit(m.Run())
	}
	server, err := StartServer(context.Background(), ServerOptions{Kubeconfig: kubeconfig})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(server.process.Pid)
	<-server.Done()
	fmt.Fprint(os.Stderr, server.Log())
	os.Exit(1)
}

func TestOrphan(t *testing.T) {
	t.Run("a server dies with the process that started it", aServerDiesWithTheProcessThatStartedIt)
}

func aServerDiesWithTheProcessThatStartedIt(t *testing.T) {
	// No API server listens at this address; the server waits for one.
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	content := `{clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}`
	if err := os.WriteFile(kubeconfig, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), self)
	parent.Env = append(os.Environ(), orphanVariable+"="+kubeconfig)
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	// Long enough for the parent to run on threads other than the first.
	time.Sleep(time.Second)
	if !isServer(pid) {
		t.Fatal("the server ended while its parent is alive")
	}
	if err := parent.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := parent.Wait(); err == nil {
		t.Error("the parent was not killed")
	}
	for deadline := time.Now().Add(10 * time.Second); isServer(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("server %d is alive without its parent", pid)
		}
	}
}

// isServer reports whether a process is alive and is a server, and not another process that
// reuses its PID.
func isServer(pid int) bool {
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.Contains(string(command), "workload-resizer\x00serve\x00")
}
