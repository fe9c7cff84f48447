package quiet

import (
	"errors"
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
	t.Run("a run begins unless the node is contended", aRunBeginsUnlessTheNodeIsContended)
	t.Run("a disturbed run is discarded", aDisturbedRunIsDiscarded)
}

func aRunBeginsUnlessTheNodeIsContended(t *testing.T) {
	const full = "full avg10=99.00 avg60=0.00 avg300=0.00 total=0\n"
	for _, tc := range []struct {
		name, pressure string
		busy           bool
	}{
		{"begins if tasks wait occasionally", "some avg10=2.90 avg60=2.15 avg300=6.13 total=8100136066\n" + full, false},
		{"begins at the limit", "some avg10=10.00 avg60=90.00 avg300=0.00 total=1\n" + full, false},
		{"does not begin above the limit", "some avg10=10.01 avg60=0.00 avg300=0.00 total=1\n", true},
		{"begins if the file is empty", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pressure, err := proc(t, map[string]string{"pressure/cpu": tc.pressure}).Pressure()
			if err != nil {
				t.Fatal(err)
			}
			checkBusy(t, Before(pressure), tc.busy, "(PSI)")
		})
	}
	t.Run("begins if Linux does not record pressure", func(t *testing.T) {
		if pressure, err := proc(t, nil).Pressure(); pressure != 0 || err != nil {
			t.Errorf("%v, %v", pressure, err)
		}
	})
	t.Run("fails if the pressure is invalid", func(t *testing.T) {
		if _, err := proc(t, map[string]string{"pressure/cpu": "some avg10=x\n"}).Pressure(); err == nil {
			t.Error("got no error")
		}
	})
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
		busy        bool
		says        string
	}{
		{"keeps a run without other processes", "cpu  1000 3500 300 91000 40 10 20 30 0 0\n", false, ""},
		{"keeps a run if others use a little of each kind of time", "cpu  1100 3600 400 90700 40 20 30 70 0 0\n", false, ""},
		{"discards a run with too much steal", "cpu  1000 3500 300 90900 40 10 20 71 0 0\n", true, "(steal)"},
		{"discards a run if other processes use too much", "cpu  1450 3500 300 90500 40 10 20 30 0 0\n", true, "other processes used 11%"},
		{"discards a run if the kernel uses too much for others", "cpu  1000 3500 700 90500 40 10 70 30 0 0\n", true, "other processes"},
		{"counts waiting for disks as idle", "cpu  1000 3500 300 90000 2040 10 20 30 0 0\n", false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start, end := read(t, before), read(t, tc.after)
			end.Time = start.Time.Add(10 * time.Second)
			end.Own = start.Own + 30
			checkBusy(t, During(start, end, 4), tc.busy, tc.says)
		})
	}
	t.Run("keeps a run of no duration", func(t *testing.T) {
		r := read(t, before)
		if err := During(r, r, 4); err != nil {
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
