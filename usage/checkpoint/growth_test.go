package checkpoint

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// recorder records the times of writes, and makes the calls fail that fail returns an error for. The
// answers of calls are lost that lose returns an error for.
type recorder struct {
	corev1client.ConfigMapInterface
	c          *cluster
	writes     []time.Time
	fail, lose func(name string) error
}

func (r *recorder) ConfigMaps(string) corev1client.ConfigMapInterface { return r }

func (r *recorder) Apply(ctx context.Context, cm *applycorev1.ConfigMapApplyConfiguration, options metav1.ApplyOptions) (*corev1.ConfigMap, error) {
	r.writes = append(r.writes, r.c.clock.Now())
	if r.fail != nil {
		if err := r.fail(*cm.Name); err != nil {
			return nil, err
		}
	}
	written, err := r.ConfigMapInterface.Apply(ctx, cm, options)
	if r.lose != nil {
		if err := r.lose(*cm.Name); err != nil {
			return nil, err
		}
	}
	return written, err
}

func (r *recorder) Get(ctx context.Context, name string, options metav1.GetOptions) (*corev1.ConfigMap, error) {
	if r.fail != nil {
		if err := r.fail(name); err != nil {
			return nil, err
		}
	}
	return r.ConfigMapInterface.Get(ctx, name, options)
}

func (r *recorder) Delete(ctx context.Context, name string, options metav1.DeleteOptions) error {
	r.writes = append(r.writes, r.c.clock.Now())
	return r.ConfigMapInterface.Delete(ctx, name, options)
}

// record records the writes of a replica.
func (c *cluster) record(r *replica) *recorder {
	recorder := &recorder{ConfigMapInterface: c.api(), c: c}
	r.config.Client = recorder
	return recorder
}

func TestGrowth(t *testing.T) {
	t.Run("loses nothing if each leader dies after one write", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 100)
		c.step(a)
		want := c.loaded()
		c.stores("usage-0")
		one := a.Status().Shards[0].Bytes
		// The shard becomes too large, and then the shards are far too small.
		shards := 0
		for i, full := range slices.Concat(slices.Repeat([]int{one / 2}, 8), slices.Repeat([]int{100 * one}, 9)) {
			b := c.leader()
			b.full = full
			c.clock.Step(Interval)
			c.step(b)
			c.same(c.loaded(), want)
			if shards = max(shards, len(c.stored())); i == 7 && shards != 4 {
				t.Errorf("%d shards", shards)
			}
		}
		c.stores("usage-0")
	})
	t.Run("loses nothing if a new leader reads the older one of two shards last", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 60)
		c.step(a)
		a.full = a.Status().Shards[0].Bytes / 2
		c.clock.Step(Interval)
		c.collect(a, 60)
		c.step(a)
		if got := len(c.stored()); got != 2 {
			t.Fatalf("%d shards", got)
		}
		want := c.loaded()
		b := c.replica()
		b.leading = true
		c.record(b).fail = func(name string) error {
			if name == "usage-0" {
				return errors.New("down")
			}
			return nil
		}
		c.step(b)
		c.record(b)
		c.pass(b, time.Minute)
		if !b.CaughtUp() {
			t.Fatal(b.Status().Err)
		}
		c.same(b.store, want)
	})
	t.Run("counts new samples while each leader dies after one write", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 60)
		c.step(a)
		full := a.Status().Shards[0].Bytes / 3
		for range 25 {
			c.clock.Step(time.Minute)
			b := c.leader()
			b.full = full
			c.collect(b, 60)
			c.step(b)
			c.equal(c.continued(), b.store)
		}
		if got := len(c.stored()); got < 4 {
			t.Errorf("%d shards", got)
		}
	})
	t.Run("is followed by others within seconds", func(t *testing.T) {
		c := newCluster(t)
		a, b := c.leader(), c.replica()
		a.full = 800
		c.collect(a, 60)
		c.pass(a, Interval)
		if got := len(c.stored()); got < 4 {
			t.Fatalf("%d shards", got)
		}
		c.caught()
		c.pass(b, 2*period)
		c.same(b.store, a.store)
	})
	t.Run("writes rarely, even while it grows to the most shards", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		writes := c.record(a)
		a.full = 100
		for range 40 {
			c.collect(a, 200)
			c.pass(a, time.Minute)
		}
		if got := len(c.stored()); got != most {
			t.Errorf("%d shards", got)
		}
		if len(writes.writes) < 3*most {
			t.Errorf("%d writes", len(writes.writes))
		}
		for i := range writes.writes[64:] {
			if took := writes.writes[i+64].Sub(writes.writes[i]); took <= Interval {
				t.Errorf("65 writes in %v", took)
			}
		}
		c.clock.Step(Interval)
		c.pass(a, Interval)
		c.same(c.loaded(), a.store)
	})
	t.Run("reports what does not fit in the most shards, and stores the rest", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		a.full, a.fullest = 400, 400
		c.collect(a, 60)
		c.pass(a, 2*Interval)
		got := len(c.stored())
		if err := a.Status().Err; got != most || err == nil || !strings.Contains(err.Error(), "ConfigMap "+c.name+"/usage-0 stores the history of 2 of 3 containers") {
			t.Errorf("%d shards, %v", got, err)
		}
	})
	t.Run("stores the history of other namespaces if one has too much", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		a.full, a.fullest = 400, 1000
		c.collect(a, 30)
		for _, s := range sampled(1000, c.clock.Now().Add(-time.Minute)) {
			s.Namespace = "evil"
			c.source.samples = append(c.source.samples, s)
		}
		c.collect(a, 0)
		c.pass(a, 3*Interval)
		stored := map[string]int{}
		for _, container := range c.loaded().Containers() {
			stored[container.Namespace]++
		}
		if stored["shop"] != 30 || stored["evil"] < most || stored["evil"] == 1000 {
			t.Errorf("stored: %v", stored)
		}
		if err := a.Status().Err; err == nil || !strings.Contains(err.Error(), "the others do not fit") {
			t.Error(err)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Run("of one shard leave the others current", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		a.full = 400
		c.collect(a, 20)
		c.pass(a, Interval)
		broken := errors.New("broken")
		c.record(a).fail = func(name string) error {
			if name == "usage-1" {
				return broken
			}
			return nil
		}
		for range 40 {
			c.collect(a, 20)
			c.pass(a, time.Minute)
		}
		status := a.Status()
		if !errors.Is(status.Err, broken) || len(status.Shards) < 2 {
			t.Fatalf("%+v", status)
		}
		for _, s := range status.Shards {
			if late := c.clock.Since(s.Stored) > 2*Interval; late != (s.Name == "usage-1") {
				t.Errorf("%s was stored %v ago", s.Name, c.clock.Since(s.Stored))
			}
		}
		c.record(a)
		c.collect(a, 20)
		c.pass(a, 2*Interval)
		if err := a.Status().Err; err != nil {
			t.Error(err)
		}
		c.same(c.loaded(), a.store)
	})
	t.Run("of which only the answer was lost lose nothing", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 5)
		c.step(a)
		c.clock.Step(Interval)
		c.collect(a, 5)
		c.record(a).lose = func(string) error { return errors.New("connection reset") }
		c.step(a)
		if a.Status().Err == nil {
			t.Error("no error")
		}
		c.record(a)
		c.source.samples = nil // It delivers each sample only once.
		c.collect(a, 9)
		c.source.samples = nil
		for end := c.clock.Now().Add(2 * Interval); c.clock.Now().Before(end); c.clock.Step(period) {
			if c.step(a); !a.CaughtUp() {
				t.Fatal("takes its own write for that of another replica")
			}
		}
		if got := len(c.loaded().Containers()); got != 9 || a.Status().Err != nil {
			t.Errorf("%d workloads, %v", got, a.Status().Err)
		}
	})
	t.Run("to read leave a new leader waiting", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 5)
		c.step(a)
		b := c.replica()
		b.leading = true
		c.record(b).fail = func(string) error { return errors.New("down") }
		c.step(b)
		if b.CaughtUp() || b.Status().Err == nil {
			t.Errorf("collects: %v, %v", b.CaughtUp(), b.Status().Err)
		}
		c.record(b)
		c.pass(b, time.Minute)
		if !b.CaughtUp() || b.Status().Err != nil {
			t.Errorf("collects: %v, %v", b.CaughtUp(), b.Status().Err)
		}
		c.equal(b.store, a.store)
	})
}

func TestRun(t *testing.T) {
	c := newCluster(t)
	a, b := c.replica(), c.replica()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{}, 2)
	for _, r := range []*replica{a, b} {
		go func() {
			r.Run(ctx, r.store, func() bool { return r == a })
			ended <- struct{}{}
		}()
	}
	for !a.CaughtUp() {
		c.clock.Step(period)
	}
	c.collect(a, 5)
	for len(b.store.Containers()) == 0 {
		c.clock.Step(period)
	}
	c.equal(b.store, a.store)
	cancel()
	<-ended
	<-ended
}
