package main

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

func TestTail(t *testing.T) {
	t.Run("a leak in the tail is a problem", aLeakInTheTailIsAProblem)
}

// The heap after a garbage collection varies by a MiB or two.
func aLeakInTheTailIsAProblem(t *testing.T) {
	began := time.Unix(0, 0)
	lived := func(name string, leading bool, heapPerMinute, rssPerMinute float64) *replica {
		noise := rand.New(rand.NewPCG(1, 2))
		l := &life{name: name}
		for i := -30; i <= 60; i++ {
			one := sample{at: began.Add(time.Duration(i) * 30 * time.Second), leading: leading}
			minutes := max(0, float64(i)/2)
			one.heap = (12 + 2*noise.Float64() + heapPerMinute*minutes) * oracle.Mebibyte
			one.rss = (85 + 3*noise.Float64() + rssPerMinute*minutes) * oracle.Mebibyte
			if i < 0 {
				one.heap *= 2 // Samples before the tail do not count.
			}
			l.samples = append(l.samples, one)
		}
		return &replica{lives: []*life{l}}
	}
	another := lived("b", false, 0, 0)
	another.lives[0].samples[50].leading = true
	gone := lived("b", false, 0, 0)
	gone.lives[0].samples = nil
	young := lived("b", false, 0, 2)
	young.lives[0].samples = young.lives[0].samples[70:]
	warming := lived("b", false, 0, 0)
	warming.lives[0].samples = warming.lives[0].samples[24:]
	for i := range 32 {
		warming.lives[0].samples[i].rss -= float64(32-i) * oracle.Mebibyte
	}
	for _, tc := range []struct {
		name     string
		replicas []*replica
		want     int
	}{
		{"nothing grows", []*replica{lived("a", true, 0, 0), lived("b", false, 0, 0)}, 0},
		{"the leader's heap grows by half a MiB per minute", []*replica{lived("a", true, 0.5, 0), lived("b", false, 0, 0)}, 1},
		{"a follower's RSS grows by half a MiB per minute", []*replica{lived("a", true, 0, 0), lived("b", false, 0, 0.5)}, 1},
		{"no process leads", []*replica{lived("a", false, 0, 0), lived("b", false, 0, 0)}, 1},
		{"another process begins to lead", []*replica{lived("a", true, 0, 0), another}, 1},
		{"a process starts in the tail and is not sampled for long enough", []*replica{lived("a", true, 0, 0), young}, 2},
		{"a process that has just started grows", []*replica{lived("a", true, 0, 0), warming}, 0},
		{"a process is not sampled", []*replica{lived("a", true, 0, 0), gone}, 1},
	} {
		r := &report{DeletedPerActiveSecond: 100}
		r.judgeTail(tc.replicas, began, began.Add(30*time.Minute))
		if len(r.Problems) != tc.want {
			t.Errorf("%s: %q", tc.name, r.Problems)
		}
		if tc.want == 0 && (len(r.Tail) != 2 || !r.Tail[0].Leading || math.Abs(r.Tail[0].Heap/oracle.Mebibyte-13) > 1) {
			t.Errorf("%s: %+v", tc.name, r.Tail)
		}
	}
}
