package quiet

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// proc is a /proc of a fixture.
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
	t.Run("a run is thrown away if others were felt", aRunIsThrownAwayIfOthersWereFelt)
}

func aRunBeginsUnlessTheNodeIsContended(t *testing.T) {
	const full = "full avg10=99.00 avg60=0.00 avg300=0.00 total=0\n"
	for _, tc := range []struct {
		name, pressure string
		busy           bool
	}{
		{"some tasks wait now and then", "some avg10=2.90 avg60=2.15 avg300=6.13 total=8100136066\n" + full, false},
		{"just as much as is allowed", "some avg10=10.00 avg60=90.00 avg300=0.00 total=1\n" + full, false},
		{"too many", "some avg10=10.01 avg60=0.00 avg300=0.00 total=1\n", true},
		{"nothing is said", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pressure, err := proc(t, map[string]string{"pressure/cpu": tc.pressure}).Pressure()
			if err != nil {
				t.Fatal(err)
			}
			checkBusy(t, Before(pressure), tc.busy, "(PSI)")
		})
	}
	t.Run("Linux does not account for it", func(t *testing.T) {
		if pressure, err := proc(t, nil).Pressure(); pressure != 0 || err != nil {
			t.Errorf("%v, %v", pressure, err)
		}
	})
	t.Run("what is no pressure is an error", func(t *testing.T) {
		if _, err := proc(t, map[string]string{"pressure/cpu": "some avg10=x\n"}).Pressure(); err == nil {
			t.Error("read")
		}
	})
}

func checkBusy(t *testing.T, err error, busy bool, says string) {
	t.Helper()
	var e *Error
	if errors.As(err, &e) != busy {
		t.Fatalf("got %v", err)
	}
	if busy && !strings.Contains(err.Error(), says) {
		t.Errorf("%q does not say %q", err, says)
	}
}

func aRunIsThrownAwayIfOthersWereFelt(t *testing.T) {
	// 4 vCPUs for 10 s are 4000 ticks; this process used 30 s of CPU time.
	const before = "cpu  1000 500 300 90000 40 10 20 30 0 0\n"
	for _, tc := range []struct {
		name, after string
		busy        bool
		says        string
	}{
		{"only this process", "cpu  1000 3500 300 91000 40 10 20 30 0 0\n", false, ""},
		{"others a little, in every kind of time", "cpu  1100 3600 400 90700 40 20 30 70 0 0\n", false, ""},
		{"the hypervisor", "cpu  1000 3500 300 90900 40 10 20 71 0 0\n", true, "(steal)"},
		{"other processes", "cpu  1450 3500 300 90500 40 10 20 30 0 0\n", true, "other processes used 11 %"},
		{"the kernel for others", "cpu  1000 3500 700 90500 40 10 70 30 0 0\n", true, "other processes"},
		{"waiting for disks is idle", "cpu  1000 3500 300 90000 2040 10 20 30 0 0\n", false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start, end := read(t, before), read(t, tc.after)
			end.Time = start.Time.Add(10 * time.Second)
			end.Own = start.Own + 30
			checkBusy(t, During(start, end, 4), tc.busy, tc.says)
		})
	}
	t.Run("no time has passed", func(t *testing.T) {
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
