package checkpoint

import (
	"errors"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

func TestOutliers(t *testing.T) {
	leader, follower := history.Pod{UID: "leader", NodeType: "n2d"}, history.Pod{UID: "follower", NodeType: "n2d"}
	options := func(history.Container) history.Options { return history.DefaultOptions() }
	now := began.Add(5 * 24 * time.Hour)
	h := history.New(options)
	for day := range 6 {
		at := began.Add(time.Duration(day) * 24 * time.Hour)
		for pod, usage := range map[history.Pod]int64{leader: 100 * mib, follower: 100 * mib} {
			if day == 0 && pod == leader {
				usage = 900 * mib // The only peak, older than the windows of pods that are stored.
			}
			if err := h.Record(web, history.Sample{Pod: pod, Resource: history.Memory, At: at, Usage: usage}, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	than := func(string) int64 { return 200 * mib }
	without := form(t, h.State(web))
	if got := h.Outliers(web, true, than, now); len(got) != 1 {
		t.Fatalf("%v", got)
	}
	stored := form(t, h.State(web))
	t.Run("survive a restart, even before the next publication", func(t *testing.T) {
		g := again(t, form(t, again(t, stored, options, now).State(web)), options, now)
		if got := g.Outliers(web, true, than, now); got[history.IDOf(leader.UID)] < 900*mib || len(got) != 1 {
			t.Errorf("%v", got)
		}
	})
	t.Run("survive a restart before they become outliers, because others need less than before", func(t *testing.T) {
		h := again(t, without, options, now)
		for _, w := range h.State(web).Windows {
			own, _ := w.Peaks()
			if own.Note(began, 100*mib); w == h.State(web).Windows[history.IDOf(leader.UID)] {
				own.Note(began, 900*mib)
			}
			w.SetPeaks(own)
		}
		if got := h.Outliers(web, true, func(string) int64 { return 2000 * mib }, now); got != nil {
			t.Fatalf("%v", got)
		}
		g := again(t, form(t, h.State(web)), options, now)
		if got := g.Outliers(web, true, than, now); got[history.IDOf(leader.UID)] < 900*mib || len(got) != 1 {
			t.Errorf("%v", got)
		}
	})
	t.Run("take few bytes, and the others none", func(t *testing.T) {
		if got := len(stored) - len(without); got > 40 {
			t.Errorf("%d bytes", got)
		}
	})
	t.Run("are unknown in what an earlier version has stored", func(t *testing.T) {
		if got := again(t, without, options, now).Outliers(web, true, than, now); got != nil {
			t.Errorf("%v", got)
		}
	})
	t.Run("that no longer exist are left out", func(t *testing.T) {
		g := again(t, stored, options, now)
		g.Forget(web, leader.UID)
		var m storedv2.Container
		if err := proto.Unmarshal(form(t, g.State(web)), &m); err != nil || m.Outliers != nil {
			t.Errorf("%v, %v", m.Outliers, err)
		}
	})
	t.Run("must be complete", func(t *testing.T) {
		for name, change := range map[string]func(*storedv2.Outliers){
			"no day":         func(o *storedv2.Outliers) { o.Days = nil },
			"a negative day": func(o *storedv2.Outliers) { o.Days[0] = -1 },
			"too few peaks":  func(o *storedv2.Outliers) { o.Peaks = o.Peaks[1:] },
		} {
			var m storedv2.Container
			if err := proto.Unmarshal(stored, &m); err != nil {
				t.Fatal(err)
			}
			change(m.Outliers)
			changed, err := proto.Marshal(&m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := unpackContainer(changed); !errors.Is(err, errIncomplete) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("of a pod that is not stored are ignored", func(t *testing.T) {
		s := &history.State{Windows: map[history.PodID]*history.Window{}}
		if err := unpackOutliers(&storedv2.Outliers{Ids: make([]byte, 5), Days: []int32{1}, Peaks: make([]uint32, 8)}, s); err != nil || len(s.Windows) != 0 {
			t.Errorf("%v, %v", s.Windows, err)
		}
	})
}
