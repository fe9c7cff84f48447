package history

import (
	"math"
	"testing"
	"time"
	"unsafe"
)

func TestDays(t *testing.T) {
	const day = 24 * time.Hour
	t.Run("an amount counts on its day and the seven days after it", func(t *testing.T) {
		var d Days
		d.Note(began, 900*mib)
		d.Note(began.Add(day), 100*mib)
		for after, want := range map[time.Duration]int64{0: 900 * mib, 7 * day: 900 * mib, 8 * day: 100 * mib, 9 * day: 0, 1000 * day: 0} {
			if got := d.Highest(began.Add(after)); got < want || got > want+want/1000 {
				t.Errorf("%d bytes after %v, want %d", got, after, want)
			}
		}
	})
	t.Run("amounts may come late, and those that are too late do not count", func(t *testing.T) {
		var d Days
		d.Note(began.Add(3*day), 100*mib)
		d.Note(began, 500*mib)
		d.Note(began.Add(-5*day), 900*mib)
		if got := d.Highest(began.Add(3 * day)); got < 500*mib || got > 501*mib {
			t.Errorf("%d bytes", got)
		}
	})
	t.Run("days without amounts move the others", func(t *testing.T) {
		var d Days
		d.Note(began, 500*mib)
		d.Note(began.Add(20*day), 100*mib)
		if got := d.Highest(began.Add(20 * day)); got < 100*mib || got > 101*mib {
			t.Errorf("%d bytes", got)
		}
	})
	t.Run("an amount is at most a thousandth more than what was noted, and never less", func(t *testing.T) {
		for _, amount := range []int64{1, 2, 3, 1000, 1 << 20, 1<<20 + 1, 7_777_777_777, most} {
			var d Days
			d.Note(began, amount)
			if got := d.Highest(began); got < amount || float64(got) > 1+1.001*float64(amount) {
				t.Errorf("%d, want %d", got, amount)
			}
		}
	})
	t.Run("nothing and times before 1970 are no amounts", func(t *testing.T) {
		var d Days
		d.Note(began, 0)
		d.Note(time.Unix(-1, 0), mib)
		if d != (Days{}) {
			t.Errorf("%+v", d)
		}
	})
	t.Run("amounts of a clock that was ahead expire", func(t *testing.T) {
		var d Days
		d.Note(began.Add(100*day), 900*mib)
		d.rewind(began)
		if d.Highest(began) == 0 || d.Highest(began.Add(8*day)) != 0 {
			t.Errorf("%d bytes, and %d after eight days", d.Highest(began), d.Highest(began.Add(8*day)))
		}
	})
	t.Run("takes little memory", func(t *testing.T) {
		if size := unsafe.Sizeof(Days{}); size > 20 {
			t.Errorf("%d bytes", size)
		}
	})
}

func TestOutliers(t *testing.T) {
	const day = 24 * time.Hour
	than := func(bytes int64) func(string) int64 { return func(string) int64 { return bytes } }
	t.Run("are the pods that use more than others", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 900*mib)
		f.memory(fast, began, 100*mib)
		got := f.Outliers(web, true, than(500*mib), began)
		if len(got) != 1 || got[IDOf(slow.UID)] < 900*mib {
			t.Errorf("%v", got)
		}
		if got := f.Outliers(web, true, func(nodeType string) int64 { return map[string]int64{"n2d": 1000 * mib, "c3": 50 * mib}[nodeType] }, began); len(got) != 1 || got[IDOf(fast.UID)] == 0 {
			t.Errorf("%v", got)
		}
		if got := f.Outliers(Container{Name: "other"}, true, than(0), began); got != nil {
			t.Errorf("%v of a container without a history", got)
		}
	})
	t.Run("stay for seven days", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 900*mib)
		for age := range 7 {
			f.memory(slow, began.Add(time.Duration(age+1)*day), 100*mib)
		}
		if got := f.Outliers(web, true, than(500*mib), began.Add(7*day)); len(got) != 1 {
			t.Errorf("%v after seven days", got)
		}
		if got := f.Outliers(web, true, than(500*mib), began.Add(8*day)); got != nil {
			t.Errorf("%v after eight days", got)
		}
	})
	t.Run("a sample that is too late for the distribution counts", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100*mib)
		f.memory(slow, began.Add(day), 100*mib)
		_ = f.Record(web, Sample{Pod: slow, Resource: Memory, At: began.Add(-2 * day), Usage: 900 * mib}, began.Add(day))
		if got := f.Outliers(web, true, than(500*mib), began.Add(day)); len(got) != 1 {
			t.Errorf("%v", got)
		}
	})
	t.Run("a pod without replicas is none, but stays one when its replicas end", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 900*mib)
		f.memory(fast, began, 100*mib)
		if got := f.Outliers(web, false, than(500*mib), began); got != nil {
			t.Errorf("%v without replicas", got)
		}
		f.Outliers(web, true, than(500*mib), began)
		f.Forget(web, fast.UID)
		if got := f.Outliers(web, false, than(500*mib), began); len(got) != 1 {
			t.Errorf("%v after the replicas have ended", got)
		}
	})
	t.Run("stay while it is not known what the container needs, as without the speed of the node type", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 900*mib)
		f.memory(fast, began, 100*mib)
		if got := f.Outliers(web, true, than(math.MaxInt64), began); got != nil {
			t.Errorf("%v before anything is known", got)
		}
		f.Outliers(web, true, than(500*mib), began)
		f.Forget(web, fast.UID)
		f.Outliers(web, false, than(math.MaxInt64), began)
		for _, w := range f.State(web).Windows {
			if _, stored := w.Peaks(); !stored {
				t.Error("would be forgotten by a restart")
			}
		}
		if got := f.Outliers(web, false, than(500*mib), began); len(got) != 1 {
			t.Errorf("%v after the speed is known again", got)
		}
		if got := f.Outliers(web, false, than(math.MaxInt64), began.Add(8*day)); got != nil {
			t.Errorf("%v after eight days", got)
		}
	})
	t.Run("pods that have ended are forgotten", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 900*mib)
		f.Forget(web, slow.UID)
		if got := f.Outliers(web, true, than(500*mib), began); got != nil {
			t.Errorf("%v", got)
		}
	})
	t.Run("a kill is no usage", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100*mib)
		if err := f.RecordKill(web, Kill{Pod: slow, At: began, Limit: 900 * mib}, began); err != nil {
			t.Fatal(err)
		}
		if got := f.Outliers(web, true, than(500*mib), began); got != nil {
			t.Errorf("%v", got)
		}
	})
	t.Run("the windows of a restored history are known", func(t *testing.T) {
		f, g := newFixture(t), newFixture(t)
		f.memory(slow, began, 900*mib)
		f.memory(slow, began.Add(day), 100*mib)
		r := f.State(web)
		for _, w := range r.Windows {
			w.own = Days{}
		}
		if err := g.Restore(web, r, began.Add(day)); err != nil {
			t.Fatal(err)
		}
		if got := g.Outliers(web, true, than(500*mib), began.Add(day)); got[IDOf(slow.UID)] < 900*mib {
			t.Errorf("%v", got)
		}
	})
}
