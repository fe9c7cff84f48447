package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/trend"
)

var webTrend = trend.Subject{Namespace: "shop", Kind: "Deployment", Name: "web"}

// count lets a leader count what the cluster and some workloads have, while time passes.
func (c *cluster) count(r *replica, workloads int, times int) {
	c.Helper()
	for i := range times {
		have := map[trend.Subject]*trend.Amounts{{}: {Pods: 7, Nodes: 2}, webTrend: {Pods: float64(i % 5), Saved: trend.Resources{CPU: -250, Memory: 1 << 28}}}
		for w := range workloads {
			have[trend.Subject{Namespace: "bank", Kind: "Deployment", Name: fmt.Sprint(w)}] = &trend.Amounts{Pods: float64(w + i), Authored: trend.Resources{CPU: float64(w * w), Memory: float64(w << 16)}, SavedCost: math.Sqrt(float64(w))}
		}
		r.store.CountTrends(c.clock.Now(), time.Minute, have)
		c.pass(r, time.Minute)
	}
}

// podsOf returns how many pods a subject had on the mean on the first days, and for how long this is known.
func podsOf(r *replica, of trend.Subject) (pods float64, known time.Duration) {
	times := []time.Time{began, began.AddDate(0, 0, 3)}
	r.store.Trends([]trend.Subject{of}, times, times[1], func(_ trend.Subject, sums []trend.Sum) bool {
		pods, known = sums[0].Pods, sums[0].Known
		return true
	})
	return pods, known
}

// subjects returns how many subjects have a trend.
func subjects(r *replica) int {
	return len(r.store.TrendSubjects())
}

// TestTrends kills a leader: its successor goes on with what was stored, and others read it.
func TestTrends(t *testing.T) {
	c := newCluster(t)
	first := c.leader()
	c.count(first, 3, 120)
	want, wantKnown := podsOf(first, webTrend)
	second := c.leader()
	if pods, known := podsOf(second, webTrend); math.Abs(pods-want) > 0.1 || wantKnown-known > Interval+time.Minute || known == 0 {
		t.Errorf("%v pods for %v are stored, want %v for %v", pods, known, want, wantKnown)
	}
	first.leading = false
	c.count(second, 3, 60)
	c.pass(second, 2*Interval)
	other := c.replica()
	if err := other.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	want, wantKnown = podsOf(second, webTrend)
	if pods, known := podsOf(other, webTrend); math.Abs(pods-want) > 0.01 || math.Abs(known.Minutes()-wantKnown.Minutes()) > 1 {
		t.Errorf("%v pods for %v are read, want %v for %v", pods, known, want, wantKnown)
	}
}

// months lets a leader count what so many workloads have on 80 days, of which each is different.
func (c *cluster) months(r *replica, workloads int) {
	for day := range 80 {
		have := map[trend.Subject]*trend.Amounts{{}: {Pods: 7}}
		for w := range workloads {
			have[trend.Subject{Namespace: "bank", Kind: "Deployment", Name: fmt.Sprint(w)}] = &trend.Amounts{Pods: float64(w + day), SavedCost: math.Sqrt(float64(w * day))}
		}
		r.store.CountTrends(c.clock.Now().AddDate(0, 0, day-80), time.Hour, have)
	}
}

// TestTrendsGrow lets trends take more room than there is next to the history: there are more shards, until all have room.
func TestTrendsGrow(t *testing.T) {
	c := newCluster(t)
	r := c.leader()
	c.collect(r, 10)
	r.roomiest = 3_000
	c.months(r, 60)
	c.pass(r, 3*Interval)
	n := len(c.stored())
	if err := r.Status().Err; err != nil || n < 2 || n == most {
		t.Fatalf("%d shards, %v", n, err)
	}
	c.pass(r, 3*Interval) // They are not too many for the history alone.
	if again := len(c.stored()); again != n {
		t.Errorf("%d shards became %d", n, again)
	}
	other := c.replica()
	if err := other.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := subjects(other), subjects(r); got != want {
		t.Errorf("%d of %d trends are stored", got, want)
	}
	for w := range 60 {
		of := trend.Subject{Namespace: "bank", Kind: "Deployment", Name: fmt.Sprint(w)}
		pods, known := meanOf(other, of, c.clock.Now().AddDate(0, 0, -85), c.clock.Now())
		if math.Abs(pods-float64(w)-39.5) > 1 || known < 79*time.Hour {
			t.Errorf("%v had %v pods, known for %s", of, pods, known)
		}
	}
}

// meanOf returns how many pods a subject had on the mean, and for how long this is known.
func meanOf(r *replica, of trend.Subject, from, until time.Time) (pods float64, known time.Duration) {
	r.store.Trends([]trend.Subject{of}, []time.Time{from, until}, until, func(_ trend.Subject, sums []trend.Sum) bool {
		pods, known = sums[0].Pods, sums[0].Known
		return true
	})
	return pods, known
}

// TestTrendsWithoutRoom lets trends take more room than there is in the most shards: those of fewer days are stored, what was before is
// not known, and the history of usage is stored as ever.
func TestTrendsWithoutRoom(t *testing.T) {
	for room, want := range map[int]string{1_000: "has room only for what its workloads saved within", 250: "has no room for what its workloads saved over time"} {
		t.Run(want, func(t *testing.T) {
			c := newCluster(t)
			r := c.leader()
			c.collect(r, 10)
			c.months(r, 200)
			r.roomiest = room
			c.pass(r, 4*Interval)
			if err := r.Status().Err; err == nil || !strings.Contains(err.Error(), want) || len(c.stored()) != most {
				t.Errorf("%d shards, the state is %v", len(c.stored()), err)
			}
			other := c.replica()
			if err := other.readAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n, want := other.store.Len(), r.store.Len(); n != want || n == 0 {
				t.Errorf("%d of %d containers are stored", n, want)
			}
			now, shorter := c.clock.Now(), 0
			for w := range 200 {
				of := trend.Subject{Namespace: "bank", Kind: "Deployment", Name: fmt.Sprint(w)}
				pods, known := meanOf(other, of, now.AddDate(0, 0, -75), now.AddDate(0, 0, -70))
				if known > 0 && math.Abs(pods-float64(w)-8) > 2 {
					t.Errorf("%v had %v pods, known for %s", of, pods, known)
				}
				if known == 0 {
					shorter++
				}
			}
			if shorter == 0 {
				t.Error("all are known")
			}
		})
	}
}

// TestFullShard fills one of the most shards with history: the trends next to it get the room that is left.
func TestFullShard(t *testing.T) {
	c := newCluster(t)
	r := c.leader()
	r.full = 400
	c.collect(r, 100)
	c.pass(r, 2*Interval)
	if n := len(c.stored()); n != most {
		t.Fatalf("%d shards", n)
	}
	c.months(r, 2_000)
	h := header{written: c.clock.Now(), index: 0, count: most}
	if _, err := r.pack(r.store, h, math.MaxInt); err != nil {
		t.Fatal(err)
	}
	shard, err := r.packer.finish(h, fullest)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.packTrends(r.store, h, roomiest)
	if err != nil {
		t.Fatal(err)
	}
	r.roomiest = len(shard) + all.size/2
	before := c.stored()["usage-0"].ResourceVersion
	if err := r.save(t.Context(), r.store, func() bool { return true }, 0, c.clock.Now().Add(Interval)); err == nil || !strings.Contains(err.Error(), "has room only for") {
		t.Errorf("it says %v", err)
	}
	cm := c.stored()["usage-0"]
	if n := len(cm.BinaryData[key]) + len(cm.BinaryData[trendsKey]); cm.ResourceVersion == before || n > r.roomiest || len(cm.BinaryData[trendsKey]) == 0 {
		t.Errorf("%d bytes are stored of at most %d", n, r.roomiest)
	}
}

// TestForgottenTrends lets a leader forget a workload: others do, too.
func TestForgottenTrends(t *testing.T) {
	c := newCluster(t)
	r, other := c.leader(), c.replica()
	c.count(r, 3, 20)
	if err := other.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := subjects(other); n != 5 {
		t.Fatalf("%d trends are read", n)
	}
	r.store.RestoreTrends(trend.NewBook(), func(of trend.Subject) bool { return of.Name == "1" })
	c.count(r, 0, 20)
	if err := other.readAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := subjects(other); n != 4 {
		t.Errorf("%d trends are read", n)
	}
}

// TestDamagedTrends reads trends that are damaged, or of a later version: the history next to them is read, and stored again.
func TestDamagedTrends(t *testing.T) {
	for name, tc := range map[string]struct {
		change func([]byte) []byte
		// kept means that they stay as they are.
		kept bool
	}{
		"no trends": {func([]byte) []byte { return []byte("nothing") }, false},
		"a wrong checksum": {func(b []byte) []byte {
			b[len(b)-1]++
			return b
		}, false},
		"a later version": {func(b []byte) []byte {
			b[len(trendsMagic)] = trendsVersion + 1
			return b
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.source.samples = sampled(3, began)
			r := c.leader()
			if err := r.store.Collect(t.Context(), &c.source, began.Add(-time.Hour), began.Add(10*time.Minute)); err != nil {
				t.Fatal(err)
			}
			c.count(r, 3, 20)
			r.leading = false
			maps := c.client.CoreV1().ConfigMaps(c.name)
			cm, err := maps.Get(t.Context(), "usage-0", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			changed := tc.change(cm.BinaryData[trendsKey])
			cm.BinaryData[trendsKey] = changed
			if _, err := maps.Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			next := c.leader()
			if n := next.store.Len(); n != r.store.Len() || n == 0 {
				t.Errorf("%d containers are read", n)
			}
			if err := next.Status().Err; err == nil || !strings.Contains(err.Error(), "usage-0: what workloads saved over time cannot be read") {
				t.Errorf("the state is %v", err)
			}
			c.count(next, 3, 20)
			if cm, err = maps.Get(t.Context(), "usage-0", metav1.GetOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := bytes.Equal(cm.BinaryData[trendsKey], changed); got != tc.kept {
				t.Errorf("they stay: %t", got)
			}
		})
	}
}

// spread lets a leader store the trends of eight namespaces in several shards.
func (c *cluster) spread(minutes, full int) *replica {
	c.Helper()
	r := c.leader()
	r.full = full
	c.collect(r, 60)
	for range minutes {
		c.passCounted(r)
	}
	return r
}

// passCounted counts ten pods in each of eight namespaces, and lets a minute pass.
func (c *cluster) passCounted(r *replica) {
	c.Helper()
	have := map[trend.Subject]*trend.Amounts{{}: {Pods: 80}}
	for n := range 8 {
		have[trend.Subject{Namespace: fmt.Sprint("n", n)}] = &trend.Amounts{Pods: 10}
	}
	r.store.CountTrends(c.clock.Now(), time.Minute, have)
	c.pass(r, time.Minute)
}

// check checks that all namespaces had ten pods in a time, as far as that is known, and returns of how many nothing is.
func (c *cluster) check(r *replica, from, until time.Time) (unknown int) {
	c.Helper()
	for n := range 8 {
		pods, known := meanOf(r, trend.Subject{Namespace: fmt.Sprint("n", n)}, from, until)
		if known == 0 {
			unknown++
		} else if math.Abs(pods-10) > 0.1 {
			c.Errorf("%s: n%d had %v pods from %s, known for %s", until.Format("15:04"), n, pods, from.Format("15:04"), known)
		}
	}
	return unknown
}

// TestLostTrends damages the trends of one shard, or leaves them out as a version that does not know them: nothing is said of what is lost.
func TestLostTrends(t *testing.T) {
	for name, lose := range map[string]func(map[string][]byte){
		"damaged":  func(data map[string][]byte) { data[trendsKey][len(data[trendsKey])-1]++ },
		"left out": func(data map[string][]byte) { delete(data, trendsKey) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			r := c.spread(200, 500)
			c.pass(r, Interval)
			follower := c.replica()
			if err := follower.readAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.leading = false
			cm := c.stored()["usage-0"]
			lose(cm.BinaryData)
			if _, err := c.api().Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			next := c.leader()
			c.passCounted(next)
			now := c.clock.Now()
			if unknown := c.check(next, began.Add(time.Hour), now.Truncate(time.Hour)); unknown == 0 || unknown == 8 {
				t.Errorf("%d namespaces are unknown of %d shards", unknown, len(c.stored()))
			}
			if err := follower.readAll(t.Context()); (err != nil) != (name == "damaged") {
				t.Fatal(err)
			}
			if unknown := c.check(follower, began.Add(time.Hour), now.Truncate(time.Hour)); unknown != 0 {
				t.Errorf("a process that had read them has lost %d", unknown)
			}
		})
	}
}

// TestFollowedTrends reads shards that are stored one after the other, while an hour begins.
func TestFollowedTrends(t *testing.T) {
	c := newCluster(t)
	r := c.spread(50, 500)
	other := c.replica()
	for range 40 {
		c.passCounted(r)
		if err := other.readAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := c.clock.Now()
		c.check(other, now.Truncate(time.Hour), now)
	}
}

// TestLaterTrends leads where a later version has stored trends: they stay, even if fewer shards would do, and the state says so.
func TestLaterTrends(t *testing.T) {
	c := newCluster(t)
	r := c.spread(40, 1500)
	r.leading = false
	later := 0
	for _, cm := range c.stored() {
		if b := cm.BinaryData[trendsKey]; b != nil {
			b[len(trendsMagic)] = trendsVersion + 1
			later++
			if _, err := c.api().Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	next := c.leader()
	for range 40 {
		c.passCounted(next)
	}
	for _, cm := range c.stored() {
		if b := cm.BinaryData[trendsKey]; b != nil && b[len(trendsMagic)] == trendsVersion+1 {
			later--
		}
	}
	if err := next.Status().Err; later != 0 || err == nil || !strings.Contains(err.Error(), "what workloads saved over time cannot be read: a later version") {
		t.Errorf("%d are lost, and the state is %v", later, err)
	}
}

// TestLargeLaterTrends leads where a later version has stored trends in all the room that there was: the history has room as it grows.
func TestLargeLaterTrends(t *testing.T) {
	c := newCluster(t)
	r := c.leader()
	c.collect(r, 3)
	c.count(r, 3, 20)
	r.leading = false
	cm := c.stored()["usage-0"]
	later := append([]byte(trendsMagic), trendsVersion+1)
	cm.BinaryData[trendsKey] = append(later, make([]byte, roomiest-len(cm.BinaryData[key])-len(later))...)
	if _, err := c.api().Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	next := c.leader()
	for range 3 {
		c.collect(next, 400)
		c.pass(next, Interval)
	}
	next.leading = false
	if got, want := c.leader().store.Len(), next.store.Len(); got != want || want < 400 {
		t.Errorf("%d of %d containers are stored in %d shards", got, want, len(c.stored()))
	}
}

// TestDamagedTrend reads one trend that is damaged among others.
func TestDamagedTrend(t *testing.T) {
	m := &storedv2.Trends{Trends: []*storedv2.Trend{
		{Namespace: "shop", Kind: "Deployment", Workload: "web", OpenSlot: 20_000, CoveredSeconds: 60, Mean: []int32{1, -2, 3}},
		{Namespace: "shop", Kind: "Deployment", Workload: "bad", Changes: []byte{1, 0}},
		{Namespace: "shop", Kind: "Deployment", Workload: "later", OpenSlot: 20_000, Mean: make([]int32, 99)},
	}, KnownSinceHour: math.MaxInt64, KnownSeconds: []uint32{5, 5}}
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var p packer
	b, err := p.seal(trendsMagic, trendsVersion, raw, header{written: began, count: 1}, full)
	if err != nil {
		t.Fatal(err)
	}
	book, _, err := unpackTrends(b)
	if !errors.Is(err, errDamaged) || book.Of(webTrend) == nil || len(book.Subjects()) != 2 || len(book.Known()) != 0 {
		t.Errorf("%v: %v", book.Subjects(), err)
	}
}
