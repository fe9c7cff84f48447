package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func (b *benchmarked) acceptSuggestion(t *testing.T) {
	rows(t, b.ask(t, 0, b.viewer, "ratios", "suggest"), `c3 1.3 0.98 `, `n4 1.25 1.4 \S+ to \S+ \+12.0% `)
	wants(t, b.ask(t, 0, b.viewer, "ratios", "suggest", "n4"), "1.4 times as fast as n2d", "bench-node:json", " benchmark accept n4")
	wants(t, b.ask(t, 2, b.viewer, "benchmark", "accept", "n4", "--yes"), "cannot update overrides")

	before := b.pods(t, b.namespace)
	b.ask(t, 0, b.editor, "benchmark", "accept", "n4", "--yes", "--reason", "new nodes")
	b.awaitCPU(t, b.namespace, "web", "71m")
	b.awaitCPU(t, b.namespace, "cache", "71m")
	b.checkNotRestarted(t, before)

	wants(t, b.ask(t, 0, b.editor, "ratios", "history", "n4"), "new nodes; accepted from benchmarks", "bench-node:flate 1.4")
	web := b.one(t, b.namespace, "web")
	wants(t, b.ask(t, 0, b.editor, "explain", web.Name, "-n", b.namespace), "override", "accepted from benchmarks", "71m")
	wants(t, b.ask(t, 0, b.viewer, "ratios", "suggest", "n4"), "The suggestion of benchmarks is already accepted.")
}

// checkNotRestarted checks that the pods are the same as before and have not been
// restarted.
func (b *benchmarked) checkNotRestarted(t *testing.T, before []corev1.Pod) {
	t.Helper()
	started := map[types.UID]metav1.Time{}
	for i := range before {
		started[before[i].UID] = statusOf(&before[i], "app").State.Running.StartedAt
	}
	for _, p := range b.pods(t, b.namespace) {
		status := statusOf(&p, "app")
		since, ok := started[p.UID]
		if !ok || status.RestartCount != 0 || !status.State.Running.StartedAt.Equal(&since) {
			t.Errorf("pod %s: known before: %v, %v", p.Name, ok, status)
		}
	}
}

func (b *benchmarked) refuseHeldBack(t *testing.T) {
	// Several runs, but of one machine and one benchmark.
	var samples strings.Builder
	for run := range 4 {
		fmt.Fprintf(&samples, `{"id":"%d","nodeType":"lone","benchmark":"bench-node:json","version":%q,"score":100,"vcpus":2,"threads":2,"machine":"a","time":%q}`+"\n",
			run, recorded(t, "n4-0", 1)[0].GetVersion(), time.Now().UTC().Format(time.RFC3339))
	}
	file := b.file(t, "lone.jsonl", samples.String())
	rows(t, b.ask(t, 0, b.editor, "benchmark", "import", file), `\S+ samples 4 0 0 4 0 0 0`)

	rows(t, b.ask(t, 0, b.viewer, "ratios", "suggest"), `lone - .* TooFewMachines,TooFewBenchmarks`)
	wants(t, b.ask(t, 2, b.editor, "benchmark", "accept", "lone", "--yes"), "lone is held back",
		"TooFewMachines: 1 machine per benchmark of lone, 2 are needed", "TooFewBenchmarks: 1 benchmark for both lone and baseline n2d, 2 are needed", "--force")
	wants(t, b.ask(t, 0, b.editor, "benchmark", "accept", "lone", "--force", "--dry-run"), "warning: the suggestion for lone is held back", "lone")
	if list := b.ask(t, 0, b.viewer, "ratios", "list"); strings.Contains(list, "lone") {
		t.Errorf("the suggestion was accepted:\n%s", list)
	}
}

// cpuModel labels a node with its CPU model, for which the configuration has a ratio.
func (b *benchmarked) cpuModel(t *testing.T) {
	label := func(ctx context.Context, value string) error {
		patch := fmt.Sprintf(`{"metadata":{"labels":{"workload-resizer.io/cpu-model":%s}}}`, value)
		_, err := b.client.CoreV1().Nodes().Patch(ctx, "n4-1", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	b.reconfigure(t, b.s, []byte(strings.Replace(string(promptConfig()), "      c3:", "      \"n4@Intel-6-79\": { cpuPerf: 1.6, memPerf: 1.0 }\n      c3:", 1)))
	t.Cleanup(func() {
		if err := label(context.WithoutCancel(t.Context()), "null"); err != nil {
			t.Error(err)
		}
	})
	if err := label(t.Context(), `"Intel-6-79"`); err != nil {
		t.Fatal(err)
	}
	b.awaitCPU(t, b.namespace, "cache", "63m")
	b.checkCPU(t, b.namespace, "web", "71m") // From the override of n4.
	wants(t, b.ask(t, 0, b.editor, "explain", b.one(t, b.namespace, "cache").Name, "-n", b.namespace), "n4@Intel-6-79", "workload-resizer.io/cpu-model", "configmap")
	wants(t, b.ask(t, 0, b.editor, "explain", b.one(t, b.namespace, "web").Name, "-n", b.namespace), "override")
}

// file creates a file for the test.
func (b *benchmarked) file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
