package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// VPADefinitions returns the CustomResourceDefinitions of the Vertical Pod Autoscaler.
func VPADefinitions(ctx context.Context) ([]byte, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	module, err := exec.CommandContext(ctx, "go", "list", "-C", filepath.Join(root, "test/vparecommender"), "-m", "-f", "{{.Dir}}", "k8s.io/autoscaler/vertical-pod-autoscaler").Output()
	if err != nil {
		return nil, fmt.Errorf("find the Vertical Pod Autoscaler: %w", err)
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(module)), "deploy/vpa-v1-crd-gen.yaml"))
}

// ProgramForTest runs a program of another project next to the cluster until the test ends: one of bin, as the cluster's
// administrator. If the test fails, it shows the end of its log.
func (c *Cluster) ProgramForTest(tb testing.TB, name string, args ...string) {
	tb.Helper()
	binary, err := Binary(name)
	if err != nil {
		tb.Fatal(err)
	}
	address, err := FreeAddress("")
	if err != nil {
		tb.Fatal(err)
	}
	log := newTailBuffer()
	command := exec.Command(binary, append([]string{"--kubeconfig", c.Kubeconfig, "--address", address}, args...)...)
	command.Stdout, command.Stderr, command.SysProcAttr = log, log, &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan error, 1)
	go func() { ended <- runTied(command, started) }()
	if err := <-started; err != nil {
		tb.Fatalf("start %s: %v", name, err)
	}
	tb.Cleanup(func() {
		killed := command.Process.Kill()
		err := <-ended
		if errors.Is(killed, os.ErrProcessDone) {
			tb.Errorf("%s ended before the test: %v", name, err)
		}
		if tb.Failed() {
			tb.Logf("the end of the log of %s:\n%s", name, Tail(log.String(), logTail))
		}
	})
}
