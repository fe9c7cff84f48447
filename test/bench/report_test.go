package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGrowth checks that the target is missed only if growth is worse than linear by more
// than two measurements may differ.
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
		{"fewer pods cost nothing", 1, 0, "-"},
		{"fewer pods cost less than nothing", 1, -1, "-"},
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
	t.Run("polls are few until the end is near", pollsAreFewUntilTheEndIsNear)
}

// missedTargetsAreCounted reads the last line of the table. A measurement without a
// target is never missed.
func missedTargetsAreCounted(t *testing.T) {
	r := &report{}
	for _, step := range []struct {
		value float64
		last  string
	}{{1, "0 targets missed"}, {3, "1 target missed"}, {4, "2 targets missed"}} {
		r.tell("without a target", 100, "s")
		r.tell("with a target", step.value, "s").atMost(2)
		var out strings.Builder
		if err := r.print(&out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), "\n"+step.last+"\n") {
			t.Errorf("the table is\n%swant %q at its end", out.String(), step.last)
		}
	}
}

// pollsAreFewUntilTheEndIsNear: few polls cost little, and the end is still noticed immediately.
func pollsAreFewUntilTheEndIsNear(t *testing.T) {
	for _, tc := range []struct {
		name          string
		written, pods float64
		took          time.Duration
		want          time.Duration
	}{
		{"nothing is written yet", 0, 2000, time.Second, soon},
		{"most are still to write", 100, 2000, time.Second, later},
		{"2 s are left", 1900, 2000, 38 * time.Second, soon},
		{"few pods", 5, 30, 100 * time.Millisecond, soon},
		{"all are written", 30, 30, time.Second, soon},
	} {
		if got := nextLook(tc.written, tc.pods, tc.took); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
