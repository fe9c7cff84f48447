package localcluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tailLines is how many lines of each log a failed test shows.
const tailLines = 5

// ForTest starts a cluster for a test, and stops it when the test ends. The test fails if the
// cluster does not start. nodes are as in Options. If the test fails, ForTest shows the last
// lines of the components' logs, and keeps the logs.
func ForTest(tb testing.TB, nodes string) *Cluster {
	tb.Helper()
	return ForTestWith(tb, Options{Nodes: nodes})
}

// ForTestWith is like ForTest, but with more options. It chooses the directory.
func ForTestWith(tb testing.TB, options Options) *Cluster {
	tb.Helper()
	// Not tb.TempDir, which would delete the logs of a cluster that fails to start.
	dir, err := os.MkdirTemp("", "localcluster-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		// testcluster has removed the directory, unless it contains logs of a failure.
		if err := os.Remove(dir); err != nil && !os.IsNotExist(err) {
			tb.Logf("kept %s: %v", dir, err)
		}
	})
	options.Dir = dir
	c, err := Up(tb.Context(), options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			c.showLogs(tb)
		}
		if err := c.Down(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// showLogs logs the last lines of the components' logs, and keeps copies of the logs.
func (c *Cluster) showLogs(tb testing.TB) {
	tb.Helper()
	kept, err := os.MkdirTemp("", "localcluster-logs-")
	if err != nil {
		tb.Logf("the logs of the cluster are lost: %v", err)
		return
	}
	if err := os.CopyFS(kept, os.DirFS(filepath.Join(c.Dir, "logs"))); err != nil {
		tb.Logf("some logs of the cluster are lost: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(kept, "*.log"))
	if err != nil {
		tb.Logf("list the logs of the cluster: %v", err)
	}
	var ends strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			content = []byte(err.Error())
		}
		ends.WriteString("\n" + filepath.Base(file) + ":\n" + Tail(string(content), tailLines))
	}
	tb.Logf("the test failed; the logs of the cluster are in %s, their last lines:%s", kept, ends.String())
}

// Tail returns the last lines of text, indented.
func Tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return "  " + strings.Join(all[max(len(all)-lines, 0):], "\n  ") + "\n"
}
