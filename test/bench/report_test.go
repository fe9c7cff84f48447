package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGrowth is missed only where it is worse than linear beyond what one measurement
// differs from the next.
func TestGrowth(t *testing.T) {
	for _, tc := range []struct {
		name        string
		many, fewer float64
		met         string
	}{
		{"less than linear", 1, 2, "yes"},
		{"linear", 2, 2, "yes"},
		{"within the tolerance", 2.2, 2, "yes"},
		{"worse than linear", 2.4, 2, "no"},
		{"fewer that cost nothing", 1, 0, "-"},
		{"fewer that cost less than nothing", 1, -1, "-"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &report{}
			r.growth("heap", tc.many, tc.fewer, "KiB")
			met := "-"
			if l := r.lines[0]; l.Met != nil {
				met = map[bool]string{true: "yes", false: "no"}[*l.Met]
			}
			if met != tc.met {
				t.Errorf("%s, want %s", met, tc.met)
			}
			if err := r.write(filepath.Join(t.TempDir(), "bench.json")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Run("missed targets are counted", missedTargetsAreCounted)
	t.Run("looks are few until the end is near", looksAreFewUntilTheEndIsNear)
}

// TestMissedTargetsAreCounted at the end of the table; what has no target is not missed.
func missedTargetsAreCounted(t *testing.T) {
	r := &report{}
	for _, step := range []struct {
		value float64
		last  string
	}{{1, "0 targets missed"}, {3, "1 target missed"}, {4, "2 targets missed"}} {
		r.tell("told", 100, "s")
		r.tell("aimed at", step.value, "s").atMost(2)
		var out strings.Builder
		if err := r.print(&out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), "\n"+step.last+"\n") {
			t.Errorf("the table is\n%swant %q at its end", out.String(), step.last)
		}
	}
}

// TestLooksAreFewUntilTheEndIsNear so that they cost little, and the end is seen at once.
func looksAreFewUntilTheEndIsNear(t *testing.T) {
	for _, tc := range []struct {
		name          string
		written, pods float64
		took          time.Duration
		want          time.Duration
	}{
		{"nothing is written yet", 0, 2000, time.Second, soon},
		{"most is to come", 100, 2000, time.Second, later},
		{"2 s are to come", 1900, 2000, 38 * time.Second, soon},
		{"few pods", 5, 30, 100 * time.Millisecond, soon},
		{"all are written", 30, 30, time.Second, soon},
	} {
		if got := nextLook(tc.written, tc.pods, tc.took); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
