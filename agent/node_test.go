package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/workload-resizer/workload-resizer/agent/measure"
	"github.com/workload-resizer/workload-resizer/agent/quiet"
)

// nodeOf returns a node made of fixtures, and the path of its /proc/stat. siblings are the vCPUs
// that share a core.
func nodeOf(t *testing.T, siblings string) (*Node, string) {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"proc/self/status":               "Cpus_allowed_list:\t0-1\n",
		"proc/stat":                      "cpu  0 0 0 0 0 0 0 0 0 0\n",
		"sys/devices/system/cpu/online":  "0-1\n",
		"sys/devices/system/cpu/present": "0-1\n",
		"sys/devices/system/cpu/cpu0/topology/thread_siblings_list": siblings,
		"sys/devices/system/cpu/cpu1/topology/thread_siblings_list": siblings,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n, err := NewNode(root)
	if err != nil {
		t.Fatal(err)
	}
	return n, filepath.Join(root, "proc", "stat")
}

func TestNode(t *testing.T) {
	t.Run("a run on a busy node does not count", aRunOnABusyNodeDoesNotCount)
	t.Run("a run next to others counts if no vCPUs share a core", aRunNextToOthersCountsIfNoVCPUsShareACore)
}

func aRunOnABusyNodeDoesNotCount(t *testing.T) {
	starved := errors.New("no kernel was measured")
	told := errors.New("told to end")
	scores := Results{Scores: []measure.Score{{All: 1}}}
	for _, tc := range []struct {
		name   string
		busy   bool
		end    bool
		run    Results
		failed error
		want   error // nil with busy: a *quiet.Error.
	}{
		{"keeps a run on an idle node", false, false, scores, nil, nil},
		{"rejects a run on a busy node", true, false, scores, nil, nil},
		{"reports a busy node instead of a run without scores", true, false, Results{}, starved, nil},
		{"reports a run without scores on an idle node", false, false, Results{}, starved, starved},
		{"reports an interrupted run on a busy node as such", true, true, Results{}, told, told},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n, stat := nodeOf(t, "0-1\n")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			got, err := n.undisturbed(ctx, func() (Results, error) {
				if tc.busy {
					// An hour of CPU time of other processes.
					if err := os.WriteFile(stat, []byte("cpu  360000 0 0 0 0 0 0 0 0 0\n"), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if tc.end {
					cancel()
				}
				return tc.run, tc.failed
			})
			var busy *quiet.Error
			switch {
			case tc.want != nil && !errors.Is(err, tc.want), tc.want == nil && errors.As(err, &busy) != tc.busy, tc.want == nil && !tc.busy && err != nil:
				t.Errorf("got %v", err)
			}
			if len(got.Scores) != len(tc.run.Scores) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func aRunNextToOthersCountsIfNoVCPUsShareACore(t *testing.T) {
	n, stat := nodeOf(t, "")
	got, err := n.undisturbed(t.Context(), func() (Results, error) {
		if err := os.WriteFile(stat, []byte("cpu  360000 0 0 0 0 0 0 0 0 0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return Results{Scores: []measure.Score{{All: 1}}}, nil
	})
	if err != nil || got.OtherLoad != 1 {
		t.Errorf("others used %v of the time; %v", got.OtherLoad, err)
	}
}
