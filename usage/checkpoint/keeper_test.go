package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

var began = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// uniform are the sets of ratios of all containers.
func uniform(history.Container) []usage.Ratios {
	return []usage.Ratios{{Name: "all", Speeds: recommend.Uniform}}
}

// source is a source that delivers samples of pods that are known by their names.
type source struct {
	name    string
	samples []usage.Sample
}

func (s *source) Name() string { return s.name }

func (s *source) Read(_ context.Context, since, until time.Time, observe func(usage.Sample)) error {
	for _, sample := range s.samples {
		if sample.At.After(since) && !sample.At.After(until) {
			observe(sample)
		}
	}
	return nil
}

// newStore returns a store that knows the pods of sampled.
func newStore() *usage.Store {
	return usage.New(func(namespace, name, _ string) (usage.Identity, bool) {
		workload, _, _ := strings.Cut(name, ".")
		return usage.Identity{
			Workload: usage.Workload{Namespace: namespace, Kind: "Deployment", Name: workload},
			Pod:      history.Pod{UID: name, NodeType: []string{"c3", "n2d"}[len(name)%2]},
		}, true
	}, func(history.Container) usage.Options {
		return usage.Options{History: history.DefaultOptions(), Recommend: recommend.DefaultOptions(), Containers: 1}
	}, "source")
}

// sampled returns samples of a number of workloads at a time.
func sampled(workloads int, at time.Time) (all []usage.Sample) {
	random := rand.New(rand.NewPCG(uint64(at.UnixNano()), 1))
	for i := range workloads {
		s := usage.Sample{Namespace: "shop", Name: fmt.Sprintf("web-%d.%d", i, random.IntN(9)), Container: "main"}
		s.At, s.Length = at.Add(time.Duration(random.IntN(int(time.Minute)))), time.Minute
		for _, s.Resource = range []history.Resource{history.CPU, history.Memory} {
			s.Usage = int64(100 + random.IntN(1000))
			if s.Resource == history.Memory {
				s.Usage <<= 20
			}
			all = append(all, s)
		}
	}
	return all
}

// replica is a process with a keeper.
type replica struct {
	*Keeper
	store   *usage.Store
	leading bool
}

// cluster has replicas in a namespace of a real API server.
type cluster struct {
	*testing.T
	client kubernetes.Interface
	name   string
	clock  *clocktesting.FakeClock
	source source
}

// newCluster lets the test run next to others: most of its time, it waits for the API server.
func newCluster(t *testing.T) *cluster {
	t.Parallel()
	n := localcluster.NamespaceForTest(t)
	config := n.Config()
	config.QPS = -1
	return &cluster{T: t, client: kubernetes.NewForConfigOrDie(config), name: n.Name, clock: clocktesting.NewFakeClock(began), source: source{name: "source"}}
}

// replica starts a process.
func (c *cluster) replica() *replica {
	return &replica{store: newStore(), Keeper: New(Config{
		Client: c.client.CoreV1(), Namespace: c.name, Prefix: "usage",
		Labels: map[string]string{"app.kubernetes.io/name": "workload-resizer"}, FieldManager: "test",
		Interval: Interval, Clock: c.clock,
	})}
}

// leader starts a process that leads and has read what is stored.
func (c *cluster) leader() *replica {
	c.Helper()
	r := c.replica()
	r.leading = true
	c.step(r)
	if !r.CaughtUp() {
		c.Fatalf("has not caught up: %v", r.Status().Err)
	}
	return r
}

// readAll passes all that is stored to the store.
func (r *replica) readAll(ctx context.Context) error {
	r.report(r.load(ctx, r.store, Names(r.config.Prefix), newest))
	return r.Status().Err
}

// step does what is due.
func (c *cluster) step(r *replica) {
	r.do(c.Context(), r.store, func() bool { return r.leading })
}

// pass lets time pass for a replica.
func (c *cluster) pass(r *replica, d time.Duration) {
	for end := c.clock.Now().Add(d); c.clock.Now().Before(end); c.clock.Step(period) {
		c.step(r)
	}
}

// collect records samples of now.
func (c *cluster) collect(r *replica, workloads int) {
	c.Helper()
	c.source.samples = append(c.source.samples, sampled(workloads, c.clock.Now().Add(-time.Minute))...)
	err := r.store.Collect(c.Context(), &c.source, began.Add(-time.Hour), c.clock.Now())
	if got := r.store.Sources()[0]; err != nil || got.Rejected > 0 || got.Waiting > 0 {
		c.Errorf("collected %+v, %v", got, err)
	}
}

func (c *cluster) api() corev1client.ConfigMapInterface { return c.client.CoreV1().ConfigMaps(c.name) }

// stored returns the ConfigMaps by name.
func (c *cluster) stored() map[string]*corev1.ConfigMap {
	c.Helper()
	list, err := c.api().List(c.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=workload-resizer"})
	if err != nil {
		c.Fatal(err)
	}
	all := map[string]*corev1.ConfigMap{}
	for i := range list.Items {
		all[list.Items[i].Name] = &list.Items[i]
	}
	return all
}

// caught waits until the API server has what was written in memory, where those that do not lead read it.
func (c *cluster) caught() {
	c.Helper()
	written := c.stored()
	localcluster.Eventually(c, "what was written in the memory of the API server", func() error {
		for name, want := range written {
			got, err := c.api().Get(c.Context(), name, metav1.GetOptions{ResourceVersion: cached})
			if err != nil {
				return err
			}
			if got.ResourceVersion != want.ResourceVersion {
				return fmt.Errorf("%s has the version %s, want %s", name, got.ResourceVersion, want.ResourceVersion)
			}
		}
		return nil
	})
}

// stores checks the names of the ConfigMaps.
func (c *cluster) stores(want ...string) {
	c.Helper()
	if got := slices.Sorted(maps.Keys(c.stored())); !slices.Equal(got, want) {
		c.Errorf("stores %v, want %v", got, want)
	}
}

// formOf returns the form of a container.
func formOf(t testing.TB, store *usage.Store, of history.Container) (form []byte) {
	t.Helper()
	err := store.Read(of, func(h *history.State, ratios []string) (err error) {
		form, err = (&container{of, ratios, h}).append(nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return form
}

// same checks that two stores know exactly the same.
func (c *cluster) same(got, want *usage.Store) {
	c.Helper()
	c.equal(got, want)
	for _, container := range want.Containers() {
		if !slices.Equal(formOf(c, got, container), formOf(c, want, container)) {
			c.Errorf("%v: the states differ", container)
		}
	}
}

// equal checks that two stores recommend the same.
func (c *cluster) equal(got, want *usage.Store) {
	c.Helper()
	now := c.clock.Now()
	a, b := got.Publish(uniform, now), want.Publish(uniform, now)
	if a.Len() != b.Len() {
		c.Errorf("%d containers, want %d", a.Len(), b.Len())
	}
	for _, container := range want.Containers() {
		x, _ := a.Demand(usage.Key{Container: container, Ratios: "all"})
		y, _ := b.Demand(usage.Key{Container: container, Ratios: "all"})
		if x.Target != y.Target || x.Lower != y.Lower || x.Upper != y.Upper || x.CPUConfidence != y.CPUConfidence {
			c.Errorf("%v: %+v, want %+v", container, x.Target, y.Target)
		}
	}
}

// loaded returns a store of a new process.
func (c *cluster) loaded() *usage.Store {
	c.Helper()
	r := c.replica()
	if err := r.readAll(c.Context()); err != nil {
		c.Error(err)
	}
	return r.store
}

// continued returns the store of a new process that also reads the source from where others stopped.
func (c *cluster) continued() *usage.Store {
	c.Helper()
	store := c.loaded()
	if err := store.Collect(c.Context(), &c.source, began.Add(-time.Hour), c.clock.Now()); err != nil {
		c.Error(err)
	}
	return store
}

func TestKeeper(t *testing.T) {
	t.Run("a new process knows what the leader has stored", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 20)
		c.step(a)
		c.same(c.loaded(), a.store)
		cm := c.stored()["usage-0"]
		if by := cm.ManagedFields; len(by) != 1 || by[0].Manager != "test" {
			t.Errorf("written by %v", by)
		}
		status := a.Status()
		if status.Err != nil || len(status.Shards) != 1 || status.Shards[0].Containers != 20 || !status.Stored.Equal(began) || status.Shards[0].Bytes != len(cm.BinaryData[key]) {
			t.Errorf("%+v", status)
		}
	})
	t.Run("writes a shard once in an interval, and only if it has changed", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		versions := map[string]bool{}
		for minute := range 50 {
			if minute < 30 {
				c.collect(a, 5)
			}
			c.pass(a, time.Minute)
			versions[c.stored()["usage-0"].ResourceVersion] = true
		}
		if len(versions) != 4 {
			t.Errorf("%d versions", len(versions))
		}
		if age := c.clock.Since(a.Status().Stored); age > Interval {
			t.Errorf("not checked for %v", age)
		}
	})
	t.Run("others follow the leader", func(t *testing.T) {
		c := newCluster(t)
		a, b := c.leader(), c.replica()
		for range 3 {
			c.collect(a, 5)
			c.pass(a, Interval)
		}
		c.step(a)
		c.step(b)
		c.same(b.store, a.store)
		if b.CaughtUp() {
			t.Error("it collects")
		}
		if until := b.store.Progress()["source"]; !until.Equal(a.store.Progress()["source"]) {
			t.Errorf("read until %v", until)
		}
	})
	t.Run("others know the first history soon", func(t *testing.T) {
		c := newCluster(t)
		a, b := c.leader(), c.replica()
		c.step(a) // Stores that nothing is known.
		read := b.Watch()
		if b.HasRead() {
			t.Error("it has read before it began")
		}
		c.step(b)
		if !b.HasRead() || b.CaughtUp() {
			t.Errorf("it has read: %v, and leads: %v", b.HasRead(), b.CaughtUp())
		}
		c.collect(a, 5)
		for a.Status().Shards[0].Containers == 0 {
			c.pass(a, period)
			c.step(b)
		}
		for len(read) > 0 {
			<-read
		}
		c.caught()
		c.pass(b, Interval/writes+period)
		c.equal(b.store, a.store)
		if len(read) == 0 {
			t.Error("nobody was notified")
		}
		before := c.clock.Now()
		for b.pause.Before(before) {
			c.pass(b, period)
		}
		if again := b.pause.Sub(c.clock.Now()); again < Interval/4 {
			t.Errorf("reads again after %v", again)
		}
	})
	t.Run("a new leader writes even if the clock of the one before was ahead", func(t *testing.T) {
		c := newCluster(t)
		c.clock.SetTime(began.AddDate(0, 0, 1))
		a := c.leader()
		c.collect(a, 5)
		c.step(a)
		a.leading = false
		c.clock.SetTime(began)
		c.source.samples = nil
		b := c.leader()
		for range 3 {
			c.collect(b, 5)
			c.pass(b, Interval+time.Minute)
			if stored := b.Status().Stored; c.clock.Since(stored) > Interval+time.Minute || stored.After(c.clock.Now()) {
				t.Errorf("stored at %v, now it is %v", stored, c.clock.Now())
			}
			c.same(c.loaded(), b.store)
		}
	})
	t.Run("a new leader continues without a gap and counts nothing twice", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		for range 25 {
			c.collect(a, 5)
			c.pass(a, time.Minute)
		}
		a.leading = false // It has collected five minutes that it has not stored.
		b := c.leader()
		if err := b.store.Collect(t.Context(), &c.source, began.Add(-time.Hour), c.clock.Now()); err != nil {
			t.Error(err)
		}
		c.equal(b.store, a.store)
	})
}

// replace replaces the content of a ConfigMap, as another replica does.
func (c *cluster) replace(cm *corev1.ConfigMap, form []byte) {
	c.Helper()
	cm.BinaryData = map[string][]byte{key: form}
	if _, err := c.api().Update(c.Context(), cm, metav1.UpdateOptions{}); err != nil {
		c.Fatal(err)
	}
}

func TestVersions(t *testing.T) {
	t.Run("what a later version has stored stays, even if the number of shards changes", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 20)
		c.step(a)
		a.leading = false
		cm := c.stored()["usage-0"]
		h, stored, _, err := unpack(cm.BinaryData[key])
		if err != nil {
			t.Fatal(err)
		}
		stored.unknown = later
		for i := range stored.forms {
			stored.forms[i] = slices.Concat(stored.forms[i], later)
		}
		size := len(cm.BinaryData[key])
		c.replace(cm, packed(t, h, stored))
		for i, full := range []int{size / 3, size * 100} {
			c.clock.Step(Interval)
			b := c.leader()
			b.full = full
			c.collect(b, 20)
			c.pass(b, 2*Interval)
			b.leading = false
			containers, all := 0, c.stored()
			if len(all) > 1 != (i == 0) {
				t.Errorf("%d shards", len(all))
			}
			for name, cm := range all {
				_, stored, _, err := unpack(cm.BinaryData[key])
				if err != nil || !bytes.Equal(stored.unknown, later) {
					t.Errorf("%s has %q, %v", name, stored.unknown, err)
				}
				for _, form := range stored.forms {
					if c, err := stored.unpack(form); err == nil && bytes.Equal(c.Unknown, later) {
						containers++
					}
				}
			}
			if containers != 20 {
				t.Errorf("%d containers still have it", containers)
			}
		}
	})
	t.Run("version 1 is read, and the next write is in the current version", func(t *testing.T) {
		c := newCluster(t)
		form, want := version1Golden(t)
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "usage-3", Labels: map[string]string{"app.kubernetes.io/name": "workload-resizer"}}}
		cm, err := c.api().Create(t.Context(), cm, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c.replace(cm, form)
		a := c.leader()
		if got := len(a.store.Containers()); got != len(want.Containers) || a.Status().Err != nil {
			t.Fatalf("%d containers, %v", got, a.Status().Err)
		}
		before := map[history.Container][]byte{}
		for _, of := range a.store.Containers() {
			before[of] = formOf(t, a.store, of)
		}
		c.pass(a, 2*Interval)
		for name, cm := range c.stored() {
			if got := cm.BinaryData[key][len(magic)]; got != version {
				t.Errorf("%s is in version %d", name, got)
			}
		}
		b := c.loaded()
		if got := len(b.Containers()); got != len(before) {
			t.Errorf("%d containers", got)
		}
		for of, form := range before {
			if !bytes.Equal(formOf(t, b, of), form) {
				t.Errorf("%v differs", of)
			}
		}
	})
}

func TestConflicts(t *testing.T) {
	t.Run("a leader that was replaced does not overwrite its successor's shard", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 5)
		c.step(a)
		c.clock.Step(Interval)
		b := c.leader()
		c.collect(b, 9)
		c.step(b)
		want := c.stored()["usage-0"].ResourceVersion
		c.collect(a, 2)
		c.step(a) // It still believes that it leads.
		if got := c.stored()["usage-0"].ResourceVersion; got != want || a.CaughtUp() {
			t.Errorf("version %s, want %s; collects: %v", got, want, a.CaughtUp())
		}
		a.leading = false
		c.step(a)
		c.same(a.store, b.store)
	})
	t.Run("a late write of the predecessor is replaced", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 5)
		c.step(a)
		c.clock.Step(Interval)
		b := c.leader()
		c.collect(a, 2)
		c.step(a)
		c.clock.Step(time.Second)
		c.collect(b, 9)
		c.pass(b, time.Minute)
		if !b.CaughtUp() || b.Status().Err != nil {
			t.Errorf("collects: %v, %v", b.CaughtUp(), b.Status().Err)
		}
		c.collect(b, 9)
		c.pass(b, Interval)
		c.same(c.loaded(), b.store)
	})
	t.Run("a ConfigMap that another replica has just created is not overwritten", func(t *testing.T) {
		c := newCluster(t)
		a, b := c.leader(), c.leader()
		c.collect(b, 9)
		c.step(b)
		want := c.stored()["usage-0"].ResourceVersion
		c.step(a)
		if got := c.stored()["usage-0"].ResourceVersion; got != want {
			t.Errorf("version %s, want %s", got, want)
		}
	})
	t.Run("a ConfigMap that was deleted is written again", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		c.collect(a, 5)
		c.step(a)
		if err := c.api().Delete(t.Context(), "usage-0", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.collect(a, 5)
		c.pass(a, 2*Interval)
		if err := a.Status().Err; err != nil {
			t.Error(err)
		}
		c.same(c.loaded(), a.store)
	})
	t.Run("writes nothing once it no longer leads", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		asked := 0
		a.do(t.Context(), a.store, func() bool { asked++; return asked == 1 })
		c.stores()
	})
}

func TestUnreadable(t *testing.T) {
	for name, damage := range map[string]func(*corev1.ConfigMap){
		"a wrong checksum":  func(cm *corev1.ConfigMap) { cm.BinaryData[key][len(cm.BinaryData[key])-1] ^= 1 },
		"a truncated shard": func(cm *corev1.ConfigMap) { cm.BinaryData[key] = cm.BinaryData[key][:100] },
		"a later version":   func(cm *corev1.ConfigMap) { cm.BinaryData[key][len(magic)]++ },
		"text by hand":      func(cm *corev1.ConfigMap) { cm.BinaryData, cm.Data = nil, map[string]string{key: "nothing"} },
	} {
		t.Run("with "+name+" is reported and never overwritten", func(t *testing.T) {
			c := newCluster(t)
			a := c.leader()
			c.collect(a, 5)
			c.step(a)
			cm := c.stored()["usage-0"]
			good := cm.DeepCopy()
			damage(cm)
			cm, err := c.api().Update(t.Context(), cm, metav1.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r := c.replica()
			err = r.readAll(t.Context())
			var unreadable *UnreadableError
			if !errors.As(err, &unreadable) || unreadable.Name != "usage-0" || !strings.Contains(err.Error(), "ConfigMap "+c.name+"/usage-0") {
				t.Errorf("error %v", err)
			}
			a.leading = false
			b := c.leader()
			c.collect(b, 3)
			c.step(b)
			c.stores("usage-0", "usage-0-2")
			if now := c.stored()["usage-0"]; now.ResourceVersion != cm.ResourceVersion {
				t.Error("it was overwritten")
			}
			if s := b.Status(); len(s.Shards) != 2 || s.Shards[0].Err == nil || s.Shards[1].Err != nil || s.Err == nil {
				t.Errorf("%+v", s)
			}
			b.leading = false
			d := c.leader() // It continues from the other ConfigMap.
			c.same(d.store, b.store)
			d.leading = false

			// Somebody repairs it: the newer state counts, and workloads that only it has are back.
			good.ResourceVersion = ""
			if _, err := c.api().Update(t.Context(), good, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			e := c.leader()
			if got := len(e.store.Containers()); got != 5 || e.Status().Err != nil {
				t.Errorf("%d containers, %v", got, e.Status().Err)
			}
			c.clock.Step(Interval)
			c.pass(e, Interval+time.Minute)
			c.stores("usage-0")
			c.same(c.loaded(), e.store)
		})
	}
	t.Run("is followed in the other ConfigMap", func(t *testing.T) {
		c := newCluster(t)
		a, b := c.leader(), c.replica()
		c.collect(a, 5)
		c.step(a)
		c.step(b)
		cm := c.stored()["usage-0"]
		cm.BinaryData[key][len(magic)]++
		if _, err := c.api().Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		c.collect(a, 9)
		c.pass(a, 2*Interval)
		c.stores("usage-0", "usage-0-2")
		for range 2 {
			c.step(b)
			c.clock.Step(Interval)
		}
		c.same(b.store, a.store)
	})
	t.Run("is read again from sources that still have its usage", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		a.full = 1500
		c.collect(a, 60)
		c.pass(a, Interval)
		c.clock.Step(4 * time.Hour)
		c.collect(a, 60)
		c.pass(a, Interval)
		a.leading = false
		cm := c.stored()["usage-1"]
		cm.BinaryData[key][len(magic)]++
		if _, err := c.api().Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		b := c.leader()
		if err := b.store.Collect(t.Context(), &c.source, began.Add(-time.Hour), c.clock.Now()); err != nil {
			t.Error(err)
		}
		c.equal(b.store, a.store)
	})
	t.Run("in both places is reported, and others are stored", func(t *testing.T) {
		c := newCluster(t)
		a := c.leader()
		a.full = 400
		c.collect(a, 9)
		c.pass(a, Interval)
		if len(c.stored()) < 2 {
			t.Fatal("one shard")
		}
		a.leading = false
		for _, name := range []string{"usage-1", "usage-1-2"} {
			if err := c.api().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil && name == "usage-1" {
				t.Fatal(err)
			}
			if _, err := c.api().Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		before := c.stored()["usage-0"].ResourceVersion
		b := c.leader()
		b.full, b.count = a.full, a.count
		c.collect(b, 9)
		c.pass(b, Interval)
		if c.stored()["usage-0"].ResourceVersion == before || b.Status().Err == nil {
			t.Errorf("nothing was stored, %v", b.Status().Err)
		}
	})
}
