package main

import (
	"math"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

func TestSlope(t *testing.T) {
	var samples []sample
	for i, heap := range []float64{10, 14, 12, 16} {
		samples = append(samples, sample{at: time.Unix(int64(10*i), 0), heap: heap})
	}
	if got := slope(samples, heapOf); math.Abs(got-0.15) > 1e-9 {
		t.Errorf("the slope is %v per second, want 0.15", got)
	}
	samples = append(samples, sample{at: time.Unix(40, 0), heap: 1000})
	if got := slope(samples, heapOf); got > 0.5 {
		t.Errorf("one outlier makes the slope %v per second", got)
	}
	if got := mean(samples[:4], heapOf); got != 13 {
		t.Errorf("the mean is %v, want 13", got)
	}
}

func TestStretch(t *testing.T) {
	t.Run("memory that grows is a problem", memoryThatGrowsIsAProblem)
	t.Run("a process is warm after many pods", aProcessIsWarmAfterManyPods)
}

func memoryThatGrowsIsAProblem(t *testing.T) {
	lived := func(periods int, heap float64) *life {
		l := &life{name: "it"}
		for i := range periods {
			l.samples = append(l.samples, sample{at: time.Unix(int64(60*i), 0), heap: 10*oracle.Mebibyte + heap*float64(i), rss: 40 * oracle.Mebibyte})
		}
		return l
	}
	led := lived(80, 0)
	for i := 40; i < 80; i++ {
		led.samples[i].leading = true
		led.samples[i].heap += oracle.Mebibyte * float64(i-40)
	}
	for _, tc := range []struct {
		name  string
		lives []*life
		want  int
	}{
		{"nothing grows", []*life{lived(60, 0)}, 0},
		{"a heap that grows", []*life{lived(60, oracle.Mebibyte)}, 1},
		{"a heap that grows in a process with a shorter life than others", []*life{lived(60, 0), lived(40, oracle.Mebibyte)}, 1},
		{"a heap that grows while the process leads", []*life{led}, 1},
		{"a process that has just started may grow", []*life{lived(60, 0), lived(30, oracle.Mebibyte)}, 0},
	} {
		r := &report{DeletedPerActiveSecond: 100}
		r.judgeMemory([]*replica{{lives: tc.lives}})
		if len(r.Problems) != tc.want {
			t.Errorf("%s: %q", tc.name, r.Problems)
		}
	}
}

func aProcessIsWarmAfterManyPods(t *testing.T) {
	for rate, want := range map[float64]time.Duration{20: 16 * time.Minute, 5: 30 * time.Minute, 0: 25 * time.Hour} {
		if got := (&report{DeletedPerActiveSecond: rate}).warmUp(); got != want {
			t.Errorf("at %v pods per second, warm after %v, want %v", rate, got, want)
		}
	}
}
