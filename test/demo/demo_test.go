package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// running is a demo that runs for a test.
type running struct {
	*demo
	// root is a stand-in for the root of the repository.
	root string
	// out is the output, and said is the progress.
	out, said *buffer
	interrupt context.CancelFunc
	ended     chan error
}

func startDemo(t *testing.T) *running {
	t.Helper()
	repository, err := localcluster.Root()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Symlink(filepath.Join(repository, "bin"), filepath.Join(root, "bin")); err != nil {
		t.Fatal(err)
	}
	r := &running{root: root, out: &buffer{}, said: &buffer{}, ended: make(chan error, 1)}
	ctx, interrupt := context.WithCancel(context.Background())
	r.interrupt = interrupt
	r.demo = newDemo(filepath.Join(root, ".run"), r.out, r.said)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.ended <- r.run(ctx, false)
	}()
	t.Cleanup(func() {
		interrupt()
		<-done
		if t.Failed() {
			t.Logf("progress:\n%s\noutput:\n%s", r.said, r.out)
		}
	})
	return r
}

// await waits until a string is written.
func (r *running) await(t *testing.T, where *buffer, text string) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for !strings.Contains(where.String(), text) {
		select {
		case err := <-r.ended:
			t.Fatalf("the demo ended before it wrote %q: %v", text, err)
		case <-deadline:
			t.Fatalf("the demo did not write %q", text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// end waits for the demo to end, and checks that it leaves only its log behind.
func (r *running) end(t *testing.T) error {
	t.Helper()
	var err error
	select {
	case err = <-r.ended:
	case <-time.After(time.Minute):
		t.Fatal("the demo does not end")
	}
	left, readErr := os.ReadDir(r.dir)
	if readErr != nil {
		t.Fatal(readErr)
	}
	for _, entry := range left {
		if entry.Name() != "server.log" {
			t.Errorf("the demo left %s behind", entry.Name())
		}
	}
	return err
}

func TestDemo(t *testing.T) {
	t.Run("the demo shows resizes and working commands", theDemoShowsResizesAndWorkingCommands)
	t.Run("a demo that is interrupted while starting leaves nothing behind", aDemoThatIsInterruptedWhileStartingLeavesNothingBehind)
	t.Run("the demo reports that the server died", theDemoReportsThatTheServerDied)
	t.Run("the demo reports that the cluster is gone", theDemoReportsThatTheClusterIsGone)
}

func theDemoShowsResizesAndWorkingCommands(t *testing.T) {
	r := startDemo(t)
	r.await(t, r.said, "Ctrl-C to end everything")
	shown := r.out.String()
	for _, pattern := range []string{
		`(?m)^web-\S+ +n4-\d +n4 +web +1/1 → 800m/800m +1Gi/1Gi$`,
		`(?m)^api-\S+ +n4-\d +n4 +api +500m/2 → 400m/1600m +256Mi/512Mi$`,
		`(?m)^db-\d +c3-\d +c3 +postgres +2/2 → 1538m/1538m +2Gi/2Gi$`,
		`(?m)^db-\d +c3-\d +c3 +metrics +60m/120m → 50m/92m +64Mi/128Mi$`,
		`(?m)^agent-\S+ +n4-0 +n4 +agent +100m → 80m +64Mi$`,
		`(?m)^agent-\S+ +c3-1 +c3 +agent +100m → 77m +64Mi$`,
		`(?m)^report-\S+ .* report +750m/1 → `,
		`(?m)^  bare +NotOwned: `,
		`(?m)^  opted-out-\S+ +OptedOut: `,
		`(?m)^21 sample pods: .* 2 skipped\.$`,
	} {
		if !regexp.MustCompile(pattern).MatchString(shown) {
			t.Errorf("the output does not match %s", pattern)
		}
	}
	if line := regexp.MustCompile(`(?m)^\S+ +n2d-\d .*$`).FindString(shown); line != "" {
		t.Errorf("the output shows a pod on the baseline: %s", line)
	}

	for _, command := range commands(shown) {
		if strings.Contains(command, " top ") {
			r.showsUsage(t, command)
			continue
		}
		output, err := r.shell(t, command)
		if err != nil {
			t.Errorf("%s: %v\n%s", command, err, output)
		}
		if strings.HasSuffix(command, " list") && strings.Contains(command, "grpcurl") && !strings.Contains(output, "workloadresizer.v1.PlanService") {
			t.Errorf("%s does not list the services:\n%s", command, output)
		}
	}
	// The last command changed the ratio of n4.
	r.await(t, r.out, "1/1 → 667m/667m")
	r.interrupt()
	if err := r.end(t); err != nil {
		t.Errorf("the demo ended with %v", err)
	}
}

// showsUsage waits until a command shows that the samples work.
func (r *running) showsUsage(t *testing.T, command string) {
	t.Helper()
	want := regexp.MustCompile(`(?m)^web-\S+ +web +[2-9]\d\dm +640Mi`)
	localcluster.Eventually(t, "usage of the samples", func() error {
		output, err := r.shell(t, command)
		if err == nil && !want.MatchString(output) {
			err = errors.New("no usage of web")
		}
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", command, err, output)
		}
		return nil
	})
}

// commands returns the suggested commands.
func commands(shown string) []string {
	var found []string
	for line := range strings.Lines(shown) {
		if command := strings.TrimSpace(line); strings.HasPrefix(command, "bin/") {
			found = append(found, command)
		}
	}
	return found
}

func (r *running) shell(t *testing.T, command string) (string, error) {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-ec", command)
	shell.Dir = r.root
	output, err := shell.CombinedOutput()
	return string(output), err
}

func aDemoThatIsInterruptedWhileStartingLeavesNothingBehind(t *testing.T) {
	r := startDemo(t)
	r.await(t, r.said, "etcd is ready")
	r.interrupt()
	if err := r.end(t); err != nil {
		t.Errorf("the demo ended with %v", err)
	}
	if !strings.Contains(r.said.String(), "interrupted") {
		t.Error("the demo does not report that it was interrupted")
	}
}

func theDemoReportsThatTheServerDied(t *testing.T) {
	r := startDemo(t)
	// Written before the cluster is up, as if a killed demo had left it.
	r.await(t, r.said, "starting a cluster")
	leftover := filepath.Join(r.dir, "left.over.kubeconfig")
	if err := os.WriteFile(leftover, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.await(t, r.said, "everything is up")
	if _, err := os.Stat(leftover); !os.IsNotExist(err) {
		t.Errorf("the leftover of an earlier demo was not removed: %v", err)
	}
	if info, err := r.log.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log has mode %v, %v, want 0600", info.Mode(), err)
	}
	if err := r.server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := r.end(t); err == nil || !strings.Contains(err.Error(), "the server ended unexpectedly") || !strings.Contains(err.Error(), "Caches synced") {
		t.Errorf("the demo ended with %v, want the end of the server and the last lines of its log", err)
	}
}

func theDemoReportsThatTheClusterIsGone(t *testing.T) {
	r := startDemo(t)
	r.await(t, r.said, "everything is up")
	if err := r.cluster.Down(); err != nil {
		t.Fatal(err)
	}
	if err := r.end(t); err == nil || !strings.Contains(err.Error(), "the cluster is gone") {
		t.Errorf("the demo ended with %v, want the end of the cluster", err)
	}
}

// buffer can be read and written concurrently.
type buffer struct {
	mu      sync.Mutex
	content bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content.String()
}
