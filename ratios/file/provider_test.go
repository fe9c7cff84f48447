package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

// yaml returns a layer as hand-written YAML.
func yaml(l *ratios.Layer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "baselineNodeType: %s\nnodeTypes:\n", l.Baseline)
	for name, r := range l.Ratios {
		fmt.Fprintf(&b, "  %s: {cpuPerf: %v, memPerf: %v}\n", name, r.CPUPerf, r.MemoryPerf)
	}
	bounds := &l.Settings.Values.Bounds
	fmt.Fprintf(&b, "bounds:\n  cpu: {min: %dm, max: %dm}\n  memory: {min: %d}\n", bounds.CPU.Min, bounds.CPU.Max, bounds.Memory.Min)
	return b.String()
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestProvider(t *testing.T) {
	t.Run("keeps the contract of providers", keepsTheContractOfProviders)
	t.Run("notices every way of replacing a file", noticesEveryWayOfReplacingAFile)
	t.Run("reports what is wrong with a file", reportsWhatIsWrongWithAFile)
	t.Run("records when a ratio was written", recordsWhenARatioWasWritten)
	t.Run("reports a fixed text once", reportsAFixedTextOnce)
}

func keepsTheContractOfProviders(t *testing.T) {
	ratiotest.Run(t, func(t *testing.T) ratiotest.Source {
		path := filepath.Join(t.TempDir(), config.FileName)
		return ratiotest.Source{
			Provider: New(path),
			Write:    func(l *ratios.Layer) { write(t, path, yaml(l)) },
			Break:    func() { write(t, path, "baselineNodeType: nowhere") },
			Remove:   func() { do(t, os.Remove(path)) },
		}
	})
}

// perf returns a configuration in which n4 has this performance. All have the same
// length.
func perf(n4 int) string {
	return fmt.Sprintf("baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}, n4: {cpuPerf: %d, memPerf: 1}}\n", n4)
}

func noticesEveryWayOfReplacingAFile(t *testing.T) {
	for _, tc := range []struct {
		name    string
		replace func(t *testing.T, path string)
	}{
		{"written in place, with the same length and time", func(t *testing.T, path string) {
			before, err := os.Stat(path)
			do(t, err)
			write(t, path, perf(3))
			do(t, os.Chtimes(path, before.ModTime(), before.ModTime()))
		}},
		{"renamed over it", func(t *testing.T, path string) {
			write(t, path+".new", perf(3))
			do(t, os.Rename(path+".new", path))
		}},
		{"removed and created again", func(t *testing.T, path string) {
			do(t, os.Remove(path))
			write(t, path, perf(3))
		}},
		{"a symbolic link to its folder gets a new target, as in a mounted ConfigMap", func(t *testing.T, path string) {
			root := filepath.Dir(filepath.Dir(path))
			do(t, os.Mkdir(filepath.Join(root, "second"), 0o700))
			write(t, filepath.Join(root, "second", config.FileName), perf(3))
			do(t, os.Symlink("second", filepath.Join(root, "new")))
			do(t, os.Rename(filepath.Join(root, "new"), filepath.Dir(path)))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			do(t, os.Mkdir(filepath.Join(root, "first"), 0o700))
			do(t, os.Symlink("first", filepath.Join(root, "data")))
			path := filepath.Join(root, "data", config.FileName)
			write(t, path, perf(2))
			synctest.Test(t, func(t *testing.T) {
				var reports []ratios.Update
				ended := make(chan error, 1)
				ctx, cancel := withCancel(t)
				go func() { ended <- New(path).Run(ctx, func(u ratios.Update) { reports = append(reports, u) }) }()
				time.Sleep(10 * period)
				synctest.Wait()
				if len(reports) != 1 || reports[0].Layer.Ratios["n4"].CPUPerf != 2 {
					t.Fatalf("reports of an unchanged file: %+v", reports)
				}
				tc.replace(t, path)
				time.Sleep(2 * period)
				synctest.Wait()
				if len(reports) != 2 || reports[1].Layer == nil || reports[1].Layer.Ratios["n4"].CPUPerf != 3 {
					t.Fatalf("reports after the change: %+v", reports)
				}
				if before, now := reports[0].Layer.Ratios["n2d"], reports[1].Layer.Ratios["n2d"]; now != before {
					t.Errorf("an unchanged ratio was %+v and is %+v", before, now)
				}
				cancel()
				do(t, <-ended)
			})
		})
	}
}

func reportsWhatIsWrongWithAFile(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(folder, "large")
	write(t, large, strings.Repeat("#", mostBytes+1))
	bad := filepath.Join(folder, "bad")
	write(t, bad, "nodeTypes: {n4: {cpuPerf: fast, memPerf: 1}}")
	for path, want := range map[string]string{
		filepath.Join(folder, "absent"): "absent does not exist",
		folder:                          "is a directory",
		large:                           "more than 1048576 bytes",
		bad:                             "bad: nodeTypes.n4.cpuPerf: line 1: must be a finite number above 0",
	} {
		s := New(path).read()
		if u := s.update(path); u.Layer != nil || u.Err == nil || !strings.Contains(u.Err.Error(), want) {
			t.Errorf("%s: %+v, want %q", path, u, want)
		}
	}
}

func recordsWhenARatioWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), config.FileName)
	write(t, path, perf(2))
	at := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	do(t, os.Chtimes(path, at, at))
	s := New(path).read()
	if got, want := s.update(path).Layer.Ratios["n4"].Provenance, (ratios.Provenance{Source: "file", UpdateTime: at}); got != want {
		t.Errorf("provenance %+v, want %+v", got, want)
	}
}

func reportsAFixedTextOnce(t *testing.T) {
	for _, tc := range []struct {
		text string
		good bool
	}{{perf(2), true}, {"", false}} {
		ctx, cancel := withCancel(t)
		var reports []ratios.Update
		if err := Text(tc.text).Run(ctx, func(u ratios.Update) {
			reports = append(reports, u)
			cancel()
		}); err != nil || len(reports) != 1 || (reports[0].Layer != nil) != tc.good {
			t.Errorf("%q: %+v, %v", tc.text, reports, err)
		}
	}
}

func withCancel(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}
