package usage

import (
	"context"
	"errors"
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
	f.Store = New(func(namespace, name string) (Identity, bool) {
		identity, known := f.known[namespace+"/"+name]
		return identity, known
	}, func(history.Container) Options {
		return Options{History: history.DefaultOptions(), Recommend: recommend.DefaultOptions(), Containers: 1}
	})
	return f
}

// collect collects samples and checks what came of them.
func (f *fixture) collect(want Collected, samples ...Sample) {
	f.Helper()
	f.source.samples = samples
	got, err := f.Collect(f.Context(), f.source, began.Add(-time.Hour), f.now)
	if got != want || !errors.Is(err, f.source.err) {
		f.Errorf("%+v, %v, want %+v, %v", got, err, want, f.source.err)
	}
}

var uniform = []Ratios{{Name: "all", Speeds: recommend.Uniform}}

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
		table := f.Publish([]Ratios{{"one", recommend.Uniform}, {"two", double}, {"none", none}}, f.now)
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
	t.Run("counts each measurement of a source that is always late", func(t *testing.T) {
		f := newFixture(t)
		var delayed delayed
		counted := 0
		for range 60 {
			f.now = f.now.Add(time.Minute)
			delayed.samples = append(delayed.samples, cpu(f.now, 1000))
			c, err := f.Collect(t.Context(), &delayed, began, f.now)
			if err != nil || c.Rejected != 0 {
				t.Errorf("%+v, %v", c, err)
			}
			counted += c.Counted
		}
		if counted != 59 {
			t.Errorf("%d samples of 59", counted)
		}
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
	t.Run("keeps a limited number of samples waiting", func(t *testing.T) {
		f := newFixture(t)
		delete(f.known, "shop/web-1")
		many := make([]Sample, mostWaiting+3)
		for i := range many {
			many[i] = cpu(began, 1)
			many[i].Container = time.Duration(i).String()
		}
		f.collect(Collected{Waiting: mostWaiting, Rejected: 3}, many...)
	})
	t.Run("takes samples while a source still delivers them", func(t *testing.T) {
		f := newFixture(t)
		delete(f.known, "shop/web-1")
		var most int
		endless := sourceFunc(func(observe func(Sample)) {
			for i := range 10 * batch {
				observe(cpu(began, int64(i)))
			}
			most = len(f.held)
		})
		if c, err := f.Collect(t.Context(), endless, began, f.now); err != nil || c.Waiting != 10*batch || most < 9*batch {
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
			if got, ok := WorkloadOf("ns", test.owners, test.labels, "app"); !ok || got != test.want {
				t.Errorf("%+v, %v, want %+v", got, ok, test.want)
			}
		})
	}
	for name, owners := range map[string][]Owner{"a pod without a controller": nil, "a Job without an owner and a label": {{"Job", "import-x7f"}}} {
		t.Run("does not exist for "+name, func(t *testing.T) {
			if got, ok := WorkloadOf("ns", owners, nil, "app"); ok {
				t.Errorf("%+v", got)
			}
		})
	}
}
