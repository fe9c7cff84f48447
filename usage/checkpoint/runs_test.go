package checkpoint

import (
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

func keepsRuns(t *testing.T) {
	f := filled(t, hourly)
	now := began.Add(84 * time.Hour)
	f.RecordRun(web, slow.UID, 0)
	of := f.State(web)
	of.Types[0].Runs = []history.RunDay{{Day: 20000, Runs: 7, Peaks: 5, Peak: 1e9 + 1}, {Day: 19000, Runs: 1}}
	stored := form(t, of)
	g := again(t, stored, hourly, now)
	same := func(t *testing.T, g *history.History) {
		t.Helper()
		for i, s := range g.State(web).Types {
			if !slices.Equal(s.Runs, of.Types[i].Runs) {
				t.Errorf("%v, want %v", s.Runs, of.Types[i].Runs)
			}
		}
	}
	same(t, g)
	t.Run("of which none counts again after a restart", func(t *testing.T) {
		g.RecordRun(web, slow.UID, 0)
		same(t, g)
		g.RecordRun(web, fast.UID, 0)
		f.RecordRun(web, fast.UID, 0)
		same(t, g)
	})
	change := func(do func(m *storedv2.Container)) []byte {
		var m storedv2.Container
		if err := proto.Unmarshal(stored, &m); err != nil {
			t.Fatal(err)
		}
		do(&m)
		b, err := proto.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Run("of which an earlier version has stored none", func(t *testing.T) {
		g := again(t, change(func(m *storedv2.Container) { m.NodeTypes[0].Runs, m.NodeTypes[1].Runs, m.RanIds = nil, nil, nil }), hourly, now)
		if all := g.State(web).Types; all[0].Runs != nil || all[1].Runs != nil {
			t.Errorf("%v and %v", all[0].Runs, all[1].Runs)
		}
		g.RecordRun(web, slow.UID, 0)
		if all := g.State(web).Types[1].Runs; len(all) != 1 {
			t.Errorf("%v", all)
		}
	})
	for name, do := range map[string]func(*storedv2.Runs){
		"a number too few": func(r *storedv2.Runs) { r.Runs = r.Runs[1:] },
		"a peak too few":   func(r *storedv2.Runs) { r.PeakBytes = r.PeakBytes[1:] },
	} {
		if _, err := unpackContainer(change(func(m *storedv2.Container) { do(m.NodeTypes[0].Runs) })); !errors.Is(err, errIncomplete) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, do := range map[string]func(*storedv2.Runs){
		"more peaks than runs":        func(r *storedv2.Runs) { r.Peaks[0] = 8 },
		"days in the wrong order":     func(r *storedv2.Runs) { slices.Reverse(r.Days) },
		"a day before 1970":           func(r *storedv2.Runs) { r.Days[1] = -1 },
		"a usage that cannot be true": func(r *storedv2.Runs) { r.PeakBytes[0] = 1<<62 + 1 },
	} {
		c, err := unpackContainer(change(func(m *storedv2.Container) { do(m.NodeTypes[0].Runs) }))
		if err == nil {
			err = history.New(hourly).Restore(web, c.State, now)
		}
		if !errors.Is(err, history.ErrState) {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Run("of the newest days only", func(t *testing.T) {
		g := again(t, change(func(m *storedv2.Container) {
			r := &storedv2.Runs{}
			for i := range 2 * history.RunDays {
				r.Days, r.Runs, r.Peaks, r.PeakBytes = append(r.Days, int32(20000-i)), append(r.Runs, 1), append(r.Peaks, 0), append(r.PeakBytes, 2)
			}
			m.NodeTypes[0].Runs = r
		}), hourly, now)
		if all := g.State(web).Types[0].Runs; len(all) != history.RunDays || all[0].Day != 20000 {
			t.Errorf("%v", all)
		}
	})
}
