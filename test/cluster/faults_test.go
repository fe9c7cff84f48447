package main_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	t.Run("components stop and start", componentsStopAndStart)
	t.Run("a cluster ends with its owner", aClusterEndsWithItsOwner)
	t.Run("an interrupted up leaves nothing", anInterruptedUpLeavesNothing)
	t.Run("a failed up names the component and ends the others", aFailedUpNamesTheComponentAndEndsTheOthers)
}

func componentsStopAndStart(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	client := up(t, dir, "--nodes", "n4=1")
	template := newTemplate("pod", resources("100m", "64Mi", "100m", "64Mi"))
	template.Name = "pod"
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitPod(t, client, "pod")

	t.Run("a restarted node keeps its containers and applies the resizes that it missed", func(t *testing.T) {
		mustRun(t, "stop", "--dir", dir, "node-n4-0")
		status := runCommand(t, "status", "--dir", dir)
		if status.exitCode != 1 || !strings.Contains(status.stdout, "stopped") {
			t.Errorf("status: exit code %d\n%s", status.exitCode, status.stdout)
		}
		resize(t, client, "pod", "main", resources("200m", "64Mi", "200m", "64Mi"))
		mustRun(t, "start", "--dir", dir, "node-n4-0")
		awaitResized(t, client, "pod", "main", resources("200m", "64Mi", "200m", "64Mi"))
	})
	for _, component := range []string{"kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler"} {
		t.Run(component+" restarts", func(t *testing.T) {
			mustRun(t, "stop", "--dir", dir, component)
			if again := mustRun(t, "stop", "--dir", dir, component); !strings.Contains(again.stderr, "is not running") {
				t.Errorf("a second stop prints %q", again.stderr)
			}
			mustRun(t, "start", "--dir", dir, component)
			if again := mustRun(t, "start", "--dir", dir, component); !strings.Contains(again.stderr, "is already running") {
				t.Errorf("a second start prints %q", again.stderr)
			}
		})
	}
	resize(t, client, "pod", "main", resources("300m", "64Mi", "300m", "64Mi"))
	awaitResized(t, client, "pod", "main", resources("300m", "64Mi", "300m", "64Mi"))

	t.Run("a component that is started by hand does not write to an inherited file", func(t *testing.T) {
		mine := filepath.Join(t.TempDir(), "mine")
		if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(mine, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		command := exec.Command(binary, "run", "--dir", dir, "etcd")
		command.ExtraFiles = []*os.File{file}
		if output, _ := command.CombinedOutput(); command.ProcessState.ExitCode() != 1 || !strings.Contains(string(output), "pid file") {
			t.Errorf("got %v and %q", command.ProcessState, output)
		}
		if content, err := os.ReadFile(mine); err != nil || string(content) != "mine" {
			t.Errorf("the file contains %q, %v", content, err)
		}
	})
	t.Run("an unknown component is an error", func(t *testing.T) {
		result := runCommand(t, "stop", "--dir", dir, "node-n5-0")
		if result.exitCode != 1 || !strings.Contains(result.stderr, "node-n4-0") {
			t.Errorf("got exit code %d and %q", result.exitCode, result.stderr)
		}
	})
}

func aClusterEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	owner := exec.Command("sleep", "600")
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	dir := newDir(t)
	up(t, dir, "--nodes", "=1", "--owner", strconv.Itoa(owner.Process.Pid))
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // It was killed.
	begin := time.Now()
	eventually(t, 30*time.Second, func(context.Context) error {
		if left := processesOf(t, dir); len(left) > 0 {
			return errors.New("processes still run")
		}
		if exists(dir) {
			return errors.New("files still exist")
		}
		return nil
	})
	t.Logf("the cluster was gone after %.1f s", time.Since(begin).Seconds())
}

// startUp starts "up" and returns when it reports that etcd is ready. The returned
// function waits for the command to end and returns its stderr.
func startUp(t *testing.T, dir string) (*exec.Cmd, func() string) {
	t.Helper()
	command := exec.Command(binary, upArguments(dir)...)
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	lines := bufio.NewScanner(stderr)
	wait := func() string {
		for lines.Scan() {
			output.WriteString(lines.Text() + "\n")
		}
		_ = command.Wait() // It was ended by a signal.
		return output.String()
	}
	for lines.Scan() {
		output.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "etcd is ready") {
			return command, wait
		}
	}
	t.Fatalf("up ended before etcd was ready:\n%s", wait())
	return nil, nil
}

func anInterruptedUpLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	command, wait := startUp(t, dir)
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	output := wait()
	if code := command.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d: %s", code, output)
	}
	if !strings.Contains(output, "interrupted") || !strings.Contains(output, "cleaned up") {
		t.Errorf("up does not report that it was interrupted and cleaned up: %s", output)
	}
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("processes still run: %v", left)
	}
	if exists(dir) {
		t.Errorf("%s still exists", dir)
	}
}

func aFailedUpNamesTheComponentAndEndsTheOthers(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	command, wait := startUp(t, dir)
	if err := syscall.Kill(pidOf(t, dir, "etcd"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	output := wait()
	if code := command.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"etcd: ended too early: signal: killed", filepath.Join(dir, "logs", "etcd.log")} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is missing from\n%s", want, output)
		}
	}
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("processes still run: %v", left)
	}
}

func TestUpRefuses(t *testing.T) {
	t.Parallel()
	t.Run("a port that is in use", func(t *testing.T) {
		listener, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
		dir := newDir(t)
		wantRefusal(t, "kube-apiserver", upArguments(dir, "--port", port)...)
		if exists(dir) {
			t.Errorf("%s still exists", dir)
		}
	})
	t.Run("a directory with unrelated files, and keeps them", func(t *testing.T) {
		dir := newDir(t)
		foreign := filepath.Join(dir, "logs", "mine.log")
		if err := os.MkdirAll(filepath.Dir(foreign), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(foreign, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, "does not belong to a cluster", upArguments(dir)...)
		mustRun(t, "down", "--dir", dir)
		if !exists(foreign) {
			t.Errorf("%s was removed", foreign)
		}
	})
	t.Run("an owner that has ended", func(t *testing.T) {
		owner := exec.Command("true")
		if err := owner.Run(); err != nil {
			t.Fatal(err)
		}
		wantRefusal(t, "--owner", upArguments(newDir(t), "--owner", strconv.Itoa(owner.Process.Pid))...)
	})
	t.Run("nodes with a control plane of another version", func(t *testing.T) {
		wantRefusal(t, "omit --nodes", upArguments(newDir(t), "--nodes", "n4=1", "--control-plane", "/")...)
	})
	for _, test := range []struct{ flag, value string }{
		{"--nodes", "n4"},
		{"--nodes", "n4=1:kubelet=1.99.0"},
		{"--node-cpu", "0"},
		{"--node-memory", "255Mi"},
		{"--node-memory", "much"},
		{"--nodes", "n4=1:speed=fast"},
		{"--work", "default/web"},
		{"--work", "default/web=cpu: 1"},
		{"--work", "default/web/app=cpu: much"},
		{"--work", "default/web/app=@no-such-file"},
		{"--work-start", "Monday"},
		{"--time-scale", "0"},
		{"--time-scale", "10001"},
		{"--work-start", "1969-12-31T23:59:59Z"},
		{"--work-start", "2070-01-01T00:00:00Z"},
		{"--metrics-server", "/no/such/program"},
		{"--prometheus", "/no/such/program"},
		{"--node-label", "kubernetes.io/arch"},
		{"--node-label", "kubernetes.io/type"},
		{"--control-plane", "/does/not/exist"},
		{"--port", "-1"},
		{"--port", "65536"},
		{"--owner", "-1"},
	} {
		t.Run(test.flag+" "+test.value, func(t *testing.T) {
			dir := newDir(t)
			wantRefusal(t, strings.TrimPrefix(test.flag, "--"), upArguments(dir, test.flag, test.value)...)
			if exists(dir) {
				t.Errorf("%s still exists", dir)
			}
		})
	}
}

func wantRefusal(t *testing.T, want string, arguments ...string) {
	t.Helper()
	result := runCommand(t, arguments...)
	if result.exitCode != 1 || result.stdout != "" || !strings.Contains(result.stderr, want) {
		t.Errorf("got exit code %d, stdout %q, stderr %q; want %q", result.exitCode, result.stdout, result.stderr, want)
	}
}
