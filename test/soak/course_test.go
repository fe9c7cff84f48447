package main

import (
	"slices"
	"testing"
	"time"
)

func TestCourse(t *testing.T) {
	t.Run("a leader is killed even in a short run", aLeaderIsKilledEvenInAShortRun)
	t.Run("events that did not happen are problems", eventsThatDidNotHappenAreProblems)
}

func aLeaderIsKilledEvenInAShortRun(t *testing.T) {
	for _, tc := range []struct {
		duration, every time.Duration
		want            []time.Duration
	}{
		{30 * time.Minute, 10 * time.Minute, []time.Duration{10 * time.Minute, 20 * time.Minute}},
		{5 * time.Minute, 5 * time.Minute, []time.Duration{150 * time.Second}},
		{time.Minute, time.Hour, []time.Duration{30 * time.Second}},
	} {
		if got := (&options{duration: tc.duration, killEvery: tc.every}).kills(); !slices.Equal(got, tc.want) {
			t.Errorf("in %v, every %v: at %v, want %v", tc.duration, tc.every, got, tc.want)
		}
	}
}

func eventsThatDidNotHappenAreProblems(t *testing.T) {
	for _, tc := range []struct {
		name     string
		spoil    func(*report)
		problems []string
	}{
		{"everything as planned", func(*report) {}, nil},
		{"no leader killed", func(r *report) { r.SecondsAfterKill = nil }, []string{"leaders killed: 0, planned 1"}},
		{"no leader terminated", func(r *report) { r.SecondsAfterTerm = nil }, []string{"leaders terminated: 0, planned 2"}},
		{"only one restart", func(r *report) { r.APIServerRestarts = 1 }, []string{"API server restarts: 1, planned 2"}},
		{"a slow handover", func(r *report) { r.SecondsAfterTerm[1] = 5.1 }, []string{"another replica led 5.1 s after SIGTERM, not within 5s"}},
		{"a slow takeover", func(r *report) { r.SecondsAfterKill[0] = 25.1 }, []string{"another replica led 25.1 s after SIGKILL, not within 25s"}},
		{"few deletions", func(r *report) { r.DeletedPerActiveSecond = 9.9 }, []string{"9.9 pods were deleted per second; -rate is 20.0"}},
		{"deletions missed", func(r *report) { r.NotDeletedInTime = 500 }, []string{"500 of 1500 pods were not deleted in time because too few were running"}},
		{"no pod that needs a resize", func(r *report) { r.Sizings.Needed, r.Sizings.DiedYoung = 0, 0 }, []string{"no pod was sized outside of outages"}},
		{"sizings only in outages", func(r *report) { r.Sizings.First = latencies{} }, []string{"no pod was sized outside of outages"}},
		{"pods deleted early", func(r *report) { r.Sizings.DiedYoung = 101 }, []string{"101 of 1000 pods were deleted too early to be judged; use a lower -rate or more -pods"}},
	} {
		r := &report{
			SecondsAfterKill: []float64{16}, SecondsAfterTerm: []float64{1, 2}, APIServerRestarts: 2,
			DeletedInTime: 1000, DeletedPerActiveSecond: 19, NotDeletedInTime: 50,
			Sizings: sizings{Ran: 1500, Needed: 1000, Sized: 1000, DiedYoung: 5, First: latencies{Count: 900}},
		}
		tc.spoil(r)
		if r.judgeCourse(options{duration: 5 * time.Minute, killEvery: 5 * time.Minute, rate: 20}); !slices.Equal(r.Problems, tc.problems) {
			t.Errorf("%s: %q, want %q", tc.name, r.Problems, tc.problems)
		}
	}
}
