package quiet

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// proc returns a Proc that reads fixtures.
func proc(t *testing.T, files map[string]string) Proc {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := NewProc(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestQuiet(t *testing.T) {
	t.Run("a disturbed run is discarded", aDisturbedRunIsDiscarded)
}

func checkBusy(t *testing.T, err error, busy bool, says string) {
	t.Helper()
	var e *Error
	if errors.As(err, &e) != busy {
		t.Fatalf("got error %v, want a busy node: %v", err, busy)
	}
	if busy && !strings.Contains(err.Error(), says) {
		t.Errorf("error %q does not contain %q", err, says)
	}
}

func aDisturbedRunIsDiscarded(t *testing.T) {
	// 4 vCPUs for 10 s are 4000 ticks; this process used 30 s of CPU time.
	const before = "cpu  1000 500 300 90000 40 10 20 30 0 0\n"
	for _, tc := range []struct {
		name, after string
		shared      bool
		others      float64
		says        string
	}{
		{"keeps a run without other processes", "cpu  1000 3500 300 91000 40 10 20 30 0 0\n", true, 0, ""},
		{"keeps a run if others use a little of each kind of time", "cpu  1100 3600 400 90700 40 20 30 70 0 0\n", true, 0.08, ""},
		{"discards a run with too much steal", "cpu  1000 3500 300 90900 40 10 20 71 0 0\n", false, 0, "(steal)"},
		{"keeps a run next to other processes", "cpu  1450 3500 300 90500 40 10 20 30 0 0\n", false, 0.1125, ""},
		{"discards it if they share the cores", "cpu  1450 3500 300 90500 40 10 20 30 0 0\n", true, 0.1125, "other processes used 12% of the time of vCPUs that share cores"},
		{"counts the kernel's time for others", "cpu  1000 3500 700 90500 40 10 70 30 0 0\n", true, 0.1125, "other processes"},
		{"counts waiting for disks as idle", "cpu  1000 3500 300 90000 2040 10 20 30 0 0\n", true, 0, ""},
		{"does not count less than nothing", "cpu  1000 3000 300 90000 2040 10 20 30 0 0\n", true, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start, end := read(t, before), read(t, tc.after)
			end.Time = start.Time.Add(10 * time.Second)
			end.Own = start.Own + 30
			others, err := During(start, end, 4, tc.shared)
			if math.Abs(others-tc.others) > 1e-9 {
				t.Errorf("others used %v, want %v", others, tc.others)
			}
			checkBusy(t, err, tc.says != "", tc.says)
		})
	}
	t.Run("keeps a run of no duration", func(t *testing.T) {
		r := read(t, before)
		if _, err := During(r, r, 4, true); err != nil {
			t.Error(err)
		}
	})
}

func read(t *testing.T, stat string) Reading {
	t.Helper()
	r, err := proc(t, map[string]string{"stat": stat}).Read()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadThisNode(t *testing.T) {
	p, err := NewProc("/proc")
	if err != nil {
		t.Fatal(err)
	}
	first, err := p.Read()
	if err != nil {
		t.Fatal(err)
	}
	if first.Own <= 0 || first.Busy < first.Own {
		t.Errorf("%+v", first)
	}
}
