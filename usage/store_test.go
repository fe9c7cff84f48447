package usage

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

var (
	began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	web   = Identity{Workload: Workload{"shop", "Deployment", "web"}, Pod: history.Pod{UID: "a", NodeType: "n2d"}}
	key   = history.Container{Namespace: "shop", Kind: "Deployment", Workload: "web", Name: "main"}
)

// script is a source that delivers samples, and then fails with an error.
type script struct {
	samples      []Sample
	err          error
	since, until time.Time
}

func (s *script) Name() string { return "script" }

func (s *script) Read(_ context.Context, since, until time.Time, observe func(Sample)) error {
	s.since, s.until = since, until
	for _, sample := range s.samples {
		observe(sample)
	}
	return s.err
}

// delayed is a source that knows a measurement only after a minute.
type delayed struct{ samples []Sample }

func (d *delayed) Name() string { return "delayed" }

func (d *delayed) Read(_ context.Context, since, until time.Time, observe func(Sample)) error {
	for _, s := range d.samples {
		if s.At.After(since) && !s.At.After(until.Add(-time.Minute)) {
			observe(s)
		}
	}
	return nil
}

// sourceFunc is a source that delivers what it likes.
type sourceFunc func(observe func(Sample))

func (f sourceFunc) Name() string { return "function" }

func (f sourceFunc) Read(_ context.Context, _, _ time.Time, observe func(Sample)) error {
	f(observe)
	return nil
}

// unknown is a source of another name.
type unknown struct{ *script }

func (unknown) Name() string { return "unknown" }

// cpu is a sample of web's only pod.
func cpu(at time.Time, millicores int64) Sample {
	s := Sample{Namespace: "shop", Name: "web-1", Container: "main"}
	s.At, s.Usage = at, millicores
	return s
}

// fixture is a store with a source, pods and a clock.
type fixture struct {
	*testing.T
	*Store
	source *script
	known  map[string]Identity
	now    time.Time
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, source: &script{}, known: map[string]Identity{"shop/web-1": web}, now: began}
	f.Store = New(func(namespace, name, uid string) (Identity, bool) {
		identity, known := f.known[namespace+"/"+name]
		return identity, known && (uid == "" || uid == identity.UID)
	}, func(history.Container) Options {
		return Options{History: history.DefaultOptions(), Recommend: recommend.DefaultOptions(), Containers: 1, Replicas: true}
	}, "script", "delayed", "function")
	return f
}

// Collected is what came of samples of all sources.
type Collected struct{ Counted, Waiting, Rejected int }

// collected collects samples and returns what came of them, and of those that waited.
func (f *fixture) collected(source Source, first time.Time) (c Collected, err error) {
	before := f.Sources()
	err = f.Collect(f.Context(), source, first, f.now)
	for i, now := range f.Sources() {
		c.Counted += now.Counted - before[i].Counted
		c.Rejected += now.Rejected - before[i].Rejected
		c.Waiting += now.Waiting
	}
	return c, err
}

// collect collects samples and checks what came of them.
func (f *fixture) collect(want Collected, samples ...Sample) {
	f.Helper()
	f.source.samples = samples
	got, err := f.collected(f.source, began.Add(-time.Hour))
	if got != want || !errors.Is(err, f.source.err) {
		f.Errorf("%+v, %v, want %+v, %v", got, err, want, f.source.err)
	}
}

var uniform = everywhere(Ratios{Name: "all", Speeds: recommend.Uniform})

// everywhere returns the same sets of ratios for all containers.
func everywhere(sets ...Ratios) func(history.Container) []Ratios {
	return func(history.Container) []Ratios { return sets }
}

func TestStore(t *testing.T) {
	t.Run("has an empty table at first", func(t *testing.T) {
		f := newFixture(t)
		if table := f.Table(); table.Revision != 0 || table.Len() != 0 {
			t.Errorf("%+v", table)
		}
	})
	t.Run("publishes what containers need under each set of ratios", func(t *testing.T) {
		f := newFixture(t)
		f.collect(Collected{Counted: 1}, cpu(began, 1000))
		double := func(string) (recommend.Speed, bool) { return recommend.Speed{CPU: 2, Memory: 1}, true }
		none := func(string) (recommend.Speed, bool) { return recommend.Speed{}, false }
		table := f.Publish(everywhere(Ratios{"one", recommend.Uniform}, Ratios{"two", double}, Ratios{"none", none}), f.now)
		one, known := table.Demand(Key{key, "one"})
		two, _ := table.Demand(Key{key, "two"})
		if !known || table.Len() != 2 || table != f.Table() || two.Target.CPU < one.Target.CPU*2-1 || two.Target.CPU > one.Target.CPU*2+1 {
			t.Errorf("%+v and %+v of %d", one.Target, two.Target, table.Len())
		}
		if _, known := table.Demand(Key{key, "none"}); known {
			t.Error("a demand without a speed")
		}
	})
	t.Run("changes the revision only with a size", func(t *testing.T) {
		f := newFixture(t)
		f.collect(Collected{Counted: 1}, cpu(began, 1000))
		first := f.Publish(uniform, f.now).Revision
		if again := f.Publish(uniform, f.now.Add(time.Minute)).Revision; first != 1 || again != 1 {
			t.Errorf("revisions %d and %d", first, again)
		}
		f.now = f.now.Add(time.Minute)
		f.collect(Collected{Counted: 1}, cpu(f.now, 9000))
		if next := f.Publish(uniform, f.now).Revision; next != 2 {
			t.Errorf("revision %d", next)
		}
	})
	t.Run("reads on from its last successful read", func(t *testing.T) {
		f := newFixture(t)
		f.collect(Collected{})
		if !f.source.since.Equal(began.Add(-time.Hour)) || !f.source.until.Equal(began) {
			t.Errorf("read from %v to %v", f.source.since, f.source.until)
		}
		f.source.err, f.now = errors.New("down"), began.Add(time.Minute)
		f.collect(Collected{Counted: 1}, cpu(began.Add(time.Second), 1000))
		f.source.err, f.now = nil, began.Add(2*time.Minute)
		f.collect(Collected{Counted: 1}, cpu(began.Add(time.Second), 1000), cpu(began.Add(2*time.Second), 1000))
		if !f.source.since.Equal(began.Add(-late)) {
			t.Errorf("read from %v, want %v", f.source.since, began.Add(-late))
		}
	})
	t.Run("reads many days in steps, and continues after the last one that was read", func(t *testing.T) {
		f, first := newFixture(t), began.Add(-3*step-time.Hour)
		var reads [][2]time.Time
		failAt := 2
		source := steps(func(since, until time.Time) error {
			if reads = append(reads, [2]time.Time{since, until}); len(reads) == failAt {
				return errors.New("down")
			}
			return nil
		})
		if err := f.Collect(t.Context(), source, first, f.now); err == nil || !f.Sources()[0].Read.Equal(first.Add(step)) {
			t.Errorf("read until %v: %v", f.Sources()[0].Read, err)
		}
		reads, failAt = nil, 0
		again := first.Add(step - history.Overdue)
		want := [][2]time.Time{{first.Add(step - history.Overdue), again.Add(step)}, {again.Add(step), again.Add(2 * step)}, {again.Add(2 * step), began}}
		if err := f.Collect(t.Context(), source, first, f.now); err != nil || !slices.Equal(reads, want) {
			t.Errorf("reads %v, want %v: %v", reads, want, err)
		}
	})
	t.Run("reads what is new even if an older time cannot be read", func(t *testing.T) {
		f, first := newFixture(t), began.Add(-3*step)
		for i := range 3 {
			f.now = began.Add(time.Duration(i) * time.Minute)
			source := ranged{sample: cpu(f.now, 1000), err: errors.New("too many samples"), until: first.Add(2 * step)}
			if c, err := f.collected(source, first); !errors.Is(err, source.err) || c.Counted != 1 {
				t.Errorf("%+v, %v", c, err)
			}
			if s := f.Sources()[0]; !s.Read.Equal(time.Time{}) || !errors.Is(s.Err, source.err) {
				t.Errorf("%+v", s)
			}
		}
	})
	t.Run("counts an older time when it can be read again", func(t *testing.T) {
		f, first := newFixture(t), began.Add(-3*step)
		fails := errors.New("too many samples")
		source := interval(func(since, until time.Time, observe func(Sample)) error {
			if since.Before(began.Add(-step)) && fails != nil {
				return fails
			}
			for at := since.Truncate(5 * time.Minute).Add(5 * time.Minute); !at.After(until); at = at.Add(5 * time.Minute) {
				s := cpu(at, 1000)
				s.Length = 5 * time.Minute
				observe(s)
			}
			return nil
		})
		counted := 0
		for i := range 4 {
			if i == 2 {
				fails = nil
			}
			f.now = began.Add(time.Duration(i) * time.Minute)
			c, err := f.collected(source, first)
			if !errors.Is(err, fails) || c.Rejected > 0 {
				t.Errorf("%+v, %v", c, err)
			}
			counted += c.Counted
		}
		if want := int(3 * step / (5 * time.Minute)); counted != want {
			t.Errorf("%d samples, want %d", counted, want)
		}
	})
	t.Run("reads on if some usage of a time without samples is missing", func(t *testing.T) {
		f := newFixture(t)
		source := ranged{sample: cpu(began, 1000), err: fmt.Errorf("store-1 does not answer: %w", ErrIncomplete), until: began}
		if c, err := f.collected(source, began.Add(-3*step)); !errors.Is(err, ErrIncomplete) || c.Counted != 1 {
			t.Errorf("%+v, %v", c, err)
		}
		if s := f.Sources()[0]; !s.Read.Equal(began) || !errors.Is(s.Err, ErrIncomplete) {
			t.Errorf("%+v", s)
		}
	})
	t.Run("reads on after its clock was ahead", func(t *testing.T) {
		f := newFixture(t)
		f.now = began.AddDate(0, 0, 2)
		f.collect(Collected{})
		f.now = began
		source := ranged{sample: cpu(began, 1000)}
		if c, err := f.collected(source, began.Add(-time.Hour)); err != nil || c.Counted != 1 {
			t.Errorf("%+v, %v", c, err)
		}
		if s := f.Sources()[0]; !s.Read.Equal(began) {
			t.Errorf("%+v", s)
		}
	})
	t.Run("reads again what it missed while its clock was ahead", func(t *testing.T) {
		f := newFixture(t)
		var source delayed
		first, counted := began.Add(-2*time.Minute), 0
		for i := range 20 * 12 {
			f.now = began.Add(time.Duration(i) * 5 * time.Minute)
			source.samples = append(source.samples, cpu(f.now, 1000))
			if i >= 12 && i < 18*12 {
				f.now = f.now.AddDate(0, 0, 2)
			}
			c, err := f.collected(&source, first)
			if err != nil || c.Rejected > 0 {
				t.Fatalf("%+v, %v", c, err)
			}
			counted += c.Counted
		}
		if want := 20*12 - 1; counted != want { // The newest one is a minute late.
			t.Errorf("%d samples, want %d", counted, want)
		}
	})
	t.Run("counts each measurement of a source that is always late", func(t *testing.T) {
		f := newFixture(t)
		var delayed delayed
		counted := 0
		for range 60 {
			f.now = f.now.Add(time.Minute)
			delayed.samples = append(delayed.samples, cpu(f.now, 1000))
			c, err := f.collected(&delayed, began)
			if err != nil || c.Rejected != 0 {
				t.Errorf("%+v, %v", c, err)
			}
			counted += c.Counted
		}
		if counted != 59 {
			t.Errorf("%d samples of 59", counted)
		}
	})
	t.Run("reads again what may be overdue, each hour, but nothing before the first time", func(t *testing.T) {
		f := newFixture(t)
		first := began.Add(-step)
		for _, test := range []struct {
			after time.Duration
			since time.Time
		}{
			{0, first},
			{30 * time.Minute, began.Add(-late)},
			{time.Hour, began.Add(30*time.Minute - history.Overdue)},
			{61 * time.Minute, began.Add(time.Hour - late)},
			{121 * time.Minute, began.Add(61*time.Minute - history.Overdue)},
			{122 * time.Minute, began.Add(121*time.Minute - late)},
		} {
			f.now = began.Add(test.after)
			if err := f.Collect(t.Context(), f.source, first, f.now); err != nil || !f.source.since.Equal(test.since) {
				t.Errorf("after %v, read from %v, want %v: %v", test.after, f.source.since, test.since, err)
			}
		}
		first, f.now = began.Add(2*time.Hour), began.Add(4*time.Hour)
		if err := f.Collect(t.Context(), f.source, first, f.now); err != nil || !f.source.since.Equal(first) {
			t.Errorf("read from %v, want %v: %v", f.source.since, first, err)
		}
	})
	t.Run("counts what a source delivers two hours late, and each measurement once", func(t *testing.T) {
		f := newFixture(t)
		var store delayed // what the source has
		counted := 0
		for minute := range 360 {
			f.now = began.Add(time.Duration(minute) * time.Minute)
			switch {
			case minute < 70 || minute > 190:
				store.samples = append(store.samples, cpu(f.now, 1000))
			case minute == 190: // Until now, no sample could be sent.
				for m := 70; m <= 190; m++ {
					store.samples = append(store.samples, cpu(began.Add(time.Duration(m)*time.Minute), 1000))
				}
			}
			c, err := f.collected(&store, began.Add(-time.Hour))
			if err != nil || c.Rejected != 0 {
				t.Fatalf("%+v, %v", c, err)
			}
			counted += c.Counted
		}
		// The newest one is a minute late.
		if v, _ := f.history.View(key, f.now); counted != 359 || counted != v.Types[0].Samples {
			t.Errorf("%d samples of 359, of which %d are known", counted, v.Types[0].Samples)
		}
	})
	t.Run("prefers the first source of a container, and others stand by", func(t *testing.T) {
		f := newFixture(t)
		other := &delayed{samples: []Sample{cpu(began.Add(-30*time.Second), 9000)}}
		f.collect(Collected{Counted: 1}, cpu(began.Add(-time.Minute), 1000))
		f.now = began.Add(time.Minute)
		if c, err := f.collected(other, began.Add(-time.Hour)); err != nil || c != (Collected{}) {
			t.Errorf("%+v, %v", c, err)
		}
		f.collect(Collected{Counted: 1}, cpu(began, 1000))
	})
	t.Run("rejects a source that it was not given", func(t *testing.T) {
		f := newFixture(t)
		if err := f.Collect(t.Context(), unknown{f.source}, began, f.now); err == nil || !strings.Contains(err.Error(), "unknown: it is not one of the sources") {
			t.Error(err)
		}
	})
	t.Run("knows the status of its sources", func(t *testing.T) {
		f := newFixture(t)
		want := func(read time.Time, err error) {
			t.Helper()
			s := f.Sources()
			if len(s) != 3 || s[0].Name != "script" || !s[0].Read.Equal(read) || !errors.Is(s[0].Err, err) || (err == nil) != (s[0].Err == nil) || !s[1].Read.IsZero() {
				t.Errorf("%+v, want %v and %v", s, read, err)
			}
		}
		want(time.Time{}, nil)
		f.collect(Collected{})
		want(began, nil)
		f.now, f.source.err = began.Add(time.Minute), errors.New("down")
		f.collect(Collected{Counted: 1}, cpu(began, 1000))
		want(began, f.source.err)
		f.source.err = nil
		f.collect(Collected{})
		want(f.now, nil)
	})
	t.Run("reads on if some usage is missing, unless all is", func(t *testing.T) {
		f := newFixture(t)
		f.source.err = fmt.Errorf("store-1 does not answer: %w", ErrIncomplete)
		f.collect(Collected{})
		if s := f.Sources()[0]; !s.Read.IsZero() || !errors.Is(s.Err, ErrIncomplete) {
			t.Errorf("%+v", s)
		}
		f.collect(Collected{Counted: 1}, cpu(began, 1000))
		if s := f.Sources()[0]; !s.Read.Equal(began) || !errors.Is(s.Err, ErrIncomplete) {
			t.Errorf("%+v", s)
		}
	})
	t.Run("tells pods with the same name apart by their UID", func(t *testing.T) {
		f := newFixture(t)
		of := func(uid string, at time.Time) Sample {
			s := cpu(at, 1000)
			s.UID = uid
			return s
		}
		f.collect(Collected{Counted: 1, Waiting: 1}, of("before", began.Add(-time.Minute)), of("a", began))
		next := web
		next.UID = "before"
		f.known["shop/web-1"] = next
		f.collect(Collected{Counted: 1}, of("before", began.Add(-time.Minute)))
	})
	t.Run("rejects the first interval of a pod whose name recurs, unless its source knows UIDs", func(t *testing.T) {
		f := newFixture(t)
		db := Identity{Workload: Workload{"shop", "StatefulSet", "db"}, Pod: history.Pod{UID: "a", NodeType: "n2d"}, Created: began}
		f.known["shop/web-1"] = db
		first, second := cpu(began.Add(time.Minute), 1000), cpu(began.Add(6*time.Minute), 1000)
		first.Length, second.Length, f.now = 5*time.Minute, 5*time.Minute, began.Add(10*time.Minute)
		f.collect(Collected{Counted: 1, Rejected: 1}, first, second)
		f.known["shop/web-1"] = Identity{Workload: db.Workload, Pod: history.Pod{UID: "b", NodeType: "n2d"}, Created: began}
		first.UID, second.UID = "b", "b"
		f.collect(Collected{Counted: 2}, first, second)
	})
	t.Run("rejects samples of an earlier pod with the same name", func(t *testing.T) {
		f := newFixture(t)
		again := web
		again.Created = began
		f.known["shop/web-1"] = again
		f.collect(Collected{Counted: 1, Rejected: 1}, cpu(began.Add(-1), 1000), cpu(began, 1000))
	})
	t.Run("loses nothing while its source fails", func(t *testing.T) {
		f := newFixture(t)
		f.collect(Collected{Counted: 1}, cpu(began, 1000))
		before := f.Publish(uniform, f.now)
		f.source.err, f.now = errors.New("down"), began.AddDate(0, 1, 0)
		f.collect(Collected{})
		if after := f.Publish(uniform, f.now); after.Len() != 1 || after.Revision != before.Revision {
			t.Errorf("%d demands in revision %d", after.Len(), after.Revision)
		}
	})
	t.Run("keeps samples until their pod is known", func(t *testing.T) {
		f := newFixture(t)
		delete(f.known, "shop/web-1")
		f.collect(Collected{Waiting: 1}, cpu(began, 1000))
		f.collect(Collected{Waiting: 1}, cpu(began, 1000)) // the same again
		f.known["shop/web-1"] = web
		f.now = began.Add(patience)
		f.collect(Collected{Counted: 1})
		if f.Publish(uniform, f.now).Len() != 1 {
			t.Error("no demand")
		}
	})
	t.Run("rejects samples whose pod stays unknown", func(t *testing.T) {
		f := newFixture(t)
		delete(f.known, "shop/web-1")
		f.collect(Collected{Waiting: 1}, cpu(began, 1000))
		f.now = began.Add(patience + 1)
		f.collect(Collected{Rejected: 1})
		f.collect(Collected{})
	})
	t.Run("keeps a limited number of samples waiting, and first those of new pods", func(t *testing.T) {
		f := newFixture(t)
		delete(f.known, "shop/web-1")
		many := []Sample{cpu(began, 1000)}
		for i := range mostWaiting * 3 / 2 {
			s := cpu(began.Add(-time.Duration(i%600)*time.Second), 1)
			s.Name = "ended-" + time.Duration(i).String()
			many = append(many, s)
		}
		f.source.samples = many
		c, err := f.collected(f.source, began.Add(-time.Hour))
		if err != nil || c.Waiting < mostWaiting*3/4 || c.Waiting > mostWaiting || c.Rejected != len(many)-c.Waiting || len(f.waiting.held) != c.Waiting {
			t.Errorf("%+v, %v, %d held", c, err, len(f.waiting.held))
		}
		for _, w := range f.waiting.samples {
			if w.At.Before(began.Add(-9 * time.Minute)) {
				t.Fatalf("%v still waits", w.At)
			}
		}
		f.known["shop/web-1"] = web
		f.collect(Collected{Counted: 1, Waiting: c.Waiting - 1})
	})
	t.Run("counts the samples of each source, even those that waited, as its own", func(t *testing.T) {
		f := newFixture(t)
		delete(f.known, "shop/web-1")
		f.collect(Collected{Waiting: 2}, cpu(began.Add(-time.Minute), 1000), cpu(began, 1000))
		other := cpu(began, 1000)
		other.Name = "never"
		if _, err := f.collected(&delayed{[]Sample{other}}, began.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		f.now = f.now.Add(time.Minute)
		if _, err := f.collected(&delayed{[]Sample{other}}, began.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		if s := f.Sources(); s[0].Waiting != 2 || s[1].Waiting != 1 || s[2].Waiting != 0 {
			t.Errorf("%+v", s)
		}
		f.known["shop/web-1"] = web
		if _, err := f.collected(&delayed{}, began.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		f.now = f.now.Add(patience + time.Minute)
		if _, err := f.collected(f.source, began.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		if s := f.Sources(); s[0].Counted != 2 || s[0].Rejected+s[0].Waiting != 0 || s[1].Rejected != 1 || s[1].Counted+s[1].Waiting != 0 {
			t.Errorf("%+v", s)
		}
	})
	t.Run("does not keep samples that can never count", func(t *testing.T) {
		f := newFixture(t)
		delete(f.known, "shop/web-1")
		wrong := cpu(began, 1000)
		wrong.Pressure = math.NaN()
		f.collect(Collected{Rejected: 3}, wrong, wrong, wrong)
		if n := len(f.waiting.held); n != 0 {
			t.Errorf("%d held", n)
		}
	})
	t.Run("takes samples that waited in the order of time", func(t *testing.T) {
		f := newFixture(t)
		delete(f.known, "shop/web-1")
		f.collect(Collected{Waiting: 2}, cpu(began, 1000), cpu(began.Add(-time.Minute), 1000))
		f.known["shop/web-1"] = web
		f.collect(Collected{Counted: 2})
	})
	t.Run("takes samples while a source still delivers them", func(t *testing.T) {
		f := newFixture(t)
		delete(f.known, "shop/web-1")
		var most int
		endless := sourceFunc(func(observe func(Sample)) {
			for i := range 10 * batch {
				observe(cpu(began, int64(i)))
			}
			most = len(f.waiting.held)
		})
		if c, err := f.collected(endless, began); err != nil || c.Waiting != 10*batch || most < 9*batch {
			t.Errorf("%+v, %v; %d were taken before the end", c, err, most)
		}
	})
	t.Run("rejects samples that cannot be true", func(t *testing.T) {
		f := newFixture(t)
		f.collect(Collected{Rejected: 2}, cpu(began, -1), cpu(began.Add(time.Hour), 1))
	})
	t.Run("counts a kill once", func(t *testing.T) {
		f := newFixture(t)
		f.collect(Collected{Counted: 1}, cpu(began, 1000))
		kill := history.Kill{At: began, Limit: 1 << 30, Request: 1 << 30}
		for range 2 {
			if err := f.Kill("shop", "web-1", "main", kill, f.now); err != nil {
				t.Error(err)
			}
		}
		r, _ := f.Publish(uniform, f.now).Demand(Key{key, "all"})
		if r.Target.Memory < 1<<30*12/10 || r.Target.Memory > 1<<30*15/10 {
			t.Errorf("%d bytes", r.Target.Memory)
		}
		if err := f.Kill("shop", "other", "main", kill, f.now); err == nil {
			t.Error("a kill of an unknown pod")
		}
		if err := f.Kill("shop", "web-1", "main", history.Kill{}, f.now); !errors.Is(err, history.ErrTime) {
			t.Error(err)
		}
	})
	t.Run("keeps what a pod used after it has ended", func(t *testing.T) {
		f := newFixture(t)
		f.collect(Collected{Counted: 1}, cpu(began, 1000))
		f.Ended(web.Workload, "main", "a")
		if f.Publish(uniform, f.now).Len() != 1 {
			t.Error("no demand")
		}
	})
}

func TestWorkloadOf(t *testing.T) {
	for _, test := range []struct {
		name   string
		owners []Owner
		labels map[string]string
		want   Workload
	}{
		{"is the Deployment of a ReplicaSet", []Owner{{"ReplicaSet", "web-abc"}, {"Deployment", "web"}}, nil, Workload{"ns", "Deployment", "web"}},
		{"is not the operator's object, which may own several", []Owner{{"StatefulSet", "db-master"}, {"Elasticsearch", "db"}}, nil, Workload{"ns", "StatefulSet", "db-master"}},
		{"is the topmost owner of unknown kinds", []Owner{{"ReplicaSet", "web-abc"}, {"Rollout", "web"}}, nil, Workload{"ns", "Rollout", "web"}},
		{"is a controller without an owner", []Owner{{"StatefulSet", "db"}}, nil, Workload{"ns", "StatefulSet", "db"}},
		{"is the CronJob of a Job", []Owner{{"Job", "sync-29381"}, {"CronJob", "sync"}}, nil, Workload{"ns", "CronJob", "sync"}},
		{"is the label of a Job without an owner", []Owner{{"Job", "import-x7f"}}, map[string]string{"app": "import"}, Workload{"ns", "Job", "import"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := WorkloadOf("ns", test.owners, test.labels["app"]); !ok || got != test.want {
				t.Errorf("%+v, %v, want %+v", got, ok, test.want)
			}
		})
	}
	for name, owners := range map[string][]Owner{
		"a pod without a controller":         nil,
		"a Job without an owner and a label": {{"Job", "import-x7f"}},
		"a static pod":                       {{"Node", "worker-1"}},
		"a kind that is too long":            {{strings.Repeat("K", 1<<20), "web"}},
		"a kind with other characters":       {{"Roll\x00out", "web"}},
		"a name that is too long":            {{"Rollout", strings.Repeat("n", 254)}},
		"a name with other characters":       {{"Rollout", "w\x00eb"}},
	} {
		t.Run("does not exist for "+name, func(t *testing.T) {
			if got, ok := WorkloadOf("ns", owners, ""); ok || got != (Workload{}) {
				t.Errorf("%.100v, %t", got, ok)
			}
		})
	}
}

// steps is a source without samples, which returns what it likes.
type steps func(since, until time.Time) error

func (steps) Name() string { return "script" }

func (f steps) Read(_ context.Context, since, until time.Time, _ func(Sample)) error {
	return f(since, until)
}

// interval is a source that delivers what it likes of a time.
type interval func(since, until time.Time, observe func(Sample)) error

func (interval) Name() string { return "script" }

func (f interval) Read(_ context.Context, since, until time.Time, observe func(Sample)) error {
	return f(since, until, observe)
}

// ranged is a source with one sample, and an error for what begins before a time.
type ranged struct {
	sample Sample
	err    error
	until  time.Time
}

func (ranged) Name() string { return "script" }

func (r ranged) Read(_ context.Context, since, until time.Time, observe func(Sample)) error {
	if r.sample.At.After(since) && !r.sample.At.After(until) {
		observe(r.sample)
	}
	if since.Before(r.until) {
		return r.err
	}
	return nil
}
