package pace

import (
	"math"
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	t.Run("windows are the same on all replicas", windowsAreTheSameOnAllReplicas)
	t.Run("judges a window once after its end", judgesAWindowOnceAfterItsEnd)
}

func windowsAreTheSameOnAllReplicas(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		window time.Duration
		now    time.Time
		want   time.Time
	}{
		{"within a window", time.Hour, day.Add(90 * time.Minute), day.Add(2 * time.Hour)},
		{"at the end of a window", time.Hour, day.Add(time.Hour), day.Add(2 * time.Hour)},
		{"just before the end of a window", time.Hour, day.Add(time.Hour - 1), day.Add(time.Hour)},
		{"in another time zone", time.Hour, day.Add(90 * time.Minute).In(time.FixedZone("", 5*3600+1800)), day.Add(2 * time.Hour)},
		{"weeks begin as 1970 did, on a Thursday", 7 * 24 * time.Hour, day, time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)},
		{"before 1970", time.Hour, time.Date(1969, 12, 31, 23, 30, 0, 0, time.UTC), epoch},
		{"the minimum length is one second", 0, day, day.Add(time.Second)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (Settings{Window: tc.window}).NextWindow(tc.now); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func judgesAWindowOnceAfterItsEnd(t *testing.T) {
	moving := State{Baseline: "n2d", Ratio: 1, Judged: start, Confirmed: 2, Direction: 1, Moving: true}
	short, long := Defaults(), Defaults()
	short.Window, long.Window = 15*time.Minute, 6*time.Hour
	for _, tc := range []struct {
		name     string
		settings Settings
		judged   time.Time
		after    time.Duration
		want     float64 // 1 means not judged.
	}{
		{"not before its end", Defaults(), start, time.Hour - 1, 1},
		{"at its end", Defaults(), start, time.Hour, 1.1},
		{"later", Defaults(), start, time.Hour + 59*time.Minute, 1.1},
		{"several missed windows count as one", Defaults(), start, 100 * time.Hour, 1.1},
		{"a short window makes a short step", short, start, 15 * time.Minute, math.Pow(1.1, 0.25)},
		{"two missed short windows make a step for both", short, start, 30 * time.Minute, math.Pow(1.1, 0.5)},
		{"a long window makes a step of one hour", long, start, 6 * time.Hour, 1.1},
		{"the first step is for one window", short, time.Time{}, 0, math.Pow(1.1, 0.25)},
		{"not a window that another replica with a clock ahead has judged", Defaults(), start.Add(time.Hour), 59 * time.Minute, 1},
		{"again after a judgment with a clock far ahead", Defaults(), start.Add(1000 * time.Hour), time.Hour, 1.1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := moving
			s.Judged = tc.judged
			got := Next(s, good(2), start.Add(tc.after), tc.settings)
			if math.Abs(got.Ratio-tc.want) > 1e-12 {
				t.Errorf("%v, want %v", got.Ratio, tc.want)
			}
			if tc.want == 1 && got != s {
				t.Errorf("the state is %+v", got)
			}
			if due := tc.settings.Due(tc.judged, start.Add(tc.after)); due != (tc.want != 1) {
				t.Errorf("due: %v", due)
			}
			if again := Next(got, good(2), start.Add(tc.after), tc.settings); again != got {
				t.Errorf("judged twice: %+v", again)
			}
		})
	}
}
