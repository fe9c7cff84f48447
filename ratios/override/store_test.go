package override

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func deployed(t *testing.T, s *stored) {
	apply := func() {
		t.Helper()
		if err := s.namespace.Apply(t.Context(), deploy.Base()...); err != nil {
			t.Fatal(err)
		}
	}
	apply()
	asServer := s.namespace.Config()
	asServer.Impersonate.UserName = "system:serviceaccount:" + s.namespace.Name + ":" + deploy.ServiceAccount
	run := func() *replica {
		return running(context.Background(), t, New(kubernetes.NewForConfigOrDie(asServer), s.namespace.Name, contract.DefaultNames.Overrides))
	}
	a := run()
	a.mustUpdate(t, Request{}, set("n4", 2))
	apply()
	run().await(t, map[string]float64{"n4": 2})
	if changes, more, err := a.Changes(Page{Size: 10}); len(changes) != 1 || more || err != nil {
		t.Errorf("changes %v, %v, %v", changes, more, err)
	}
}

func inForce(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	a, b := s.run(t, WithClock(clock)), s.run(t)
	c := a.mustUpdate(t, Request{Author: "ann", CredentialID: "JTI=1", Reason: "measured"}, set("n4", 2))
	if got := a.cpu(); !cmp.Equal(got, map[string]float64{"n4": 2}) {
		t.Errorf("in effect on the replica that set it: %v", got)
	}
	b.await(t, map[string]float64{"n4": 2})
	entry, _ := b.table.Table().Lookup("n4")
	want := []ratios.Ratio{
		{CPUPerf: 2, MemoryPerf: 1, Provenance: ratios.Provenance{Source: "override", UpdateTime: began, Author: "ann", CredentialID: "JTI=1", Reason: "measured"}},
		{CPUPerf: 1.25, MemoryPerf: 1},
	}
	if diff := cmp.Diff(want, entry.Candidates); diff != "" {
		t.Error(diff)
	}
	wantChange := Change{Number: 1, Time: began, Author: "ann", CredentialID: "JTI=1", Reason: "measured", Deltas: []Delta{{"n4", nil, &Value{CPUPerf: 2, MemoryPerf: 1}}}}
	if diff := cmp.Diff(&wantChange, c); diff != "" {
		t.Error(diff)
	}
	if changes, _, err := b.Changes(Page{Size: 1}); err != nil || !cmp.Equal(changes, []Change{wantChange}) {
		t.Errorf("changes %v, %v", changes, err)
	}
	if again := a.mustUpdate(t, Request{Author: "bob"}, set("n4", 2)); again != nil {
		t.Errorf("setting the current value made the change %v", again)
	}
}

// replay returns the result of applying the changes to no overrides.
func replay(changes []Change) map[string]Value {
	all := map[string]Value{}
	for _, c := range changes {
		for _, d := range c.Deltas {
			delete(all, d.NodeType)
			if d.To != nil {
				all[d.NodeType] = *d.To
			}
		}
	}
	return all
}

func values(overrides map[string]Override) map[string]Value {
	all := map[string]Value{}
	for nodeType, o := range overrides {
		all[nodeType] = *valueOf(o)
	}
	return all
}

func atTheSameTime(t *testing.T, s *stored) {
	s.write(t, nil)
	replicas := []*replica{s.run(t), s.run(t)}
	const writers = 50
	nodeTypes := []string{"n4", "c3", "c4"}
	var mu sync.Mutex
	accepted := map[string]int64{}
	var running sync.WaitGroup
	for n := range writers {
		running.Go(func() {
			r, nodeType, reason := replicas[n%2], nodeTypes[n%len(nodeTypes)], fmt.Sprintf("writer %d", n)
			for {
				p := set(nodeType, float64(n+1))
				p.Etag = r.etag(nodeType)
				c, err := r.Update(t.Context(), []Patch{p}, Request{Reason: reason})
				if etag, ok := errors.AsType[*EtagError](err); ok && etag.NodeType == nodeType {
					continue // Another writer was faster; its change is read next.
				}
				if err != nil {
					t.Errorf("%s: %v", reason, err)
					return
				}
				mu.Lock()
				accepted[reason] = c.Number
				mu.Unlock()
				return
			}
		})
	}
	running.Wait()
	c := s.read(t)
	recorded := map[string]int64{}
	for i, change := range c.changes {
		if change.Number != int64(i+1) {
			t.Errorf("change %d has number %d", i+1, change.Number)
		}
		recorded[change.Reason] = change.Number
	}
	if diff := cmp.Diff(accepted, recorded); diff != "" || len(c.changes) != writers {
		t.Errorf("%d changes; accepted, recorded: %s", len(c.changes), diff)
	}
	if diff := cmp.Diff(replay(c.changes), values(c.overrides)); diff != "" {
		t.Errorf("replayed, stored: %s", diff)
	}
	last := map[string]*Value{}
	for _, change := range c.changes {
		for _, d := range change.Deltas {
			if diff := cmp.Diff(last[d.NodeType], d.From); diff != "" {
				t.Errorf("change %d undoes another: %s", change.Number, diff)
			}
			last[d.NodeType] = d.To
		}
	}
	want := map[string]float64{}
	for nodeType, r := range c.overrides {
		want[nodeType] = r.CPUPerf
	}
	for _, r := range replicas {
		r.await(t, want)
	}
}

func sameEtag(t *testing.T, s *stored) {
	s.write(t, nil)
	replicas := []*replica{s.run(t), s.run(t)}
	for round := range 10 {
		etag := replicas[0].etag("n4")
		var won, lost atomic.Int32
		var both sync.WaitGroup
		for i, r := range replicas {
			both.Go(func() {
				p := set("n4", float64(10*round+i+2))
				p.Etag = etag
				_, err := r.Update(t.Context(), []Patch{p}, Request{})
				if _, ok := errors.AsType[*EtagError](err); ok {
					lost.Add(1)
				} else if err == nil {
					won.Add(1)
				}
			})
		}
		both.Wait()
		if won.Load() != 1 || lost.Load() != 1 {
			t.Fatalf("round %d: %d won, %d lost", round, won.Load(), lost.Load())
		}
		for _, r := range replicas {
			r.await(t, map[string]float64{"n4": s.read(t).overrides["n4"].CPUPerf})
		}
	}
}

func allOrNone(t *testing.T, s *stored) {
	s.write(t, nil)
	r := s.run(t)
	bad := set("c3", 2)
	bad.Etag = "another"
	_, err := r.Update(t.Context(), []Patch{set("n4", 2), bad}, Request{})
	if etag, ok := errors.AsType[*EtagError](err); !ok || etag.NodeType != "c3" || etag.Etag != Etag("c3", nil) {
		t.Errorf("update: %v", err)
	}
	incomplete := set("c3", 2)
	incomplete.Default, incomplete.AllowNewNodeType = nil, true
	_, err = r.Update(t.Context(), []Patch{set("n4", 2), incomplete}, Request{})
	if field, ok := errors.AsType[*FieldError](err); !ok || field.Field != "memPerf" {
		t.Errorf("update: %v", err)
	}
	soon := began
	ended := set("c3", 2)
	ended.ExpireTime = &soon
	_, err = s.run(t, WithClock(testingclock.NewFakeClock(began))).Update(t.Context(), []Patch{set("n4", 2), ended}, Request{})
	if field, ok := errors.AsType[*FieldError](err); !ok || field.Field != "expireTime" {
		t.Errorf("update: %v", err)
	}
	if c := s.read(t); len(c.overrides) > 0 || len(c.changes) > 0 {
		t.Errorf("stored %+v", c)
	}
	c := r.mustUpdate(t, Request{}, set("n4", 2), set("c3", 3))
	if len(c.Deltas) != 2 || c.Deltas[0].NodeType != "c3" {
		t.Errorf("changed %+v", c)
	}
	r.await(t, map[string]float64{"c3": 3, "n4": 2})
}

func checked(t *testing.T, s *stored) {
	s.write(t, nil)
	r := s.run(t)
	var layer *ratios.Layer
	dry := Request{ValidateOnly: true, Check: func(_, after map[string]Override) error { layer = Layer(after); return nil }}
	c, err := r.Update(t.Context(), []Patch{set("n4", 2)}, dry)
	if err != nil || c.Number != 0 || len(c.Deltas) != 1 || layer.Ratios["n4"].CPUPerf != 2 {
		t.Errorf("update %+v to %+v, %v", c, layer, err)
	}
	if _, err := r.Delete(t.Context(), Deletion{NodeType: "n4"}, dry); err == nil {
		t.Error("deleted an override that does not exist")
	}
	if c := s.read(t); len(c.overrides) > 0 || len(c.changes) > 0 {
		t.Errorf("stored %+v", c)
	}
}

func forbidden(t *testing.T, s *stored) {
	s.write(t, nil)
	r := s.run(t)
	no := errors.New("no")
	if _, err := r.Update(t.Context(), []Patch{set("n4", 2)}, Request{Check: func(_, _ map[string]Override) error { return no }}); !errors.Is(err, no) {
		t.Error(err)
	}
	if c := s.read(t); len(c.overrides) > 0 {
		t.Errorf("stored %+v", c)
	}
}

func deleted(t *testing.T, s *stored) {
	s.write(t, nil)
	r := s.run(t)
	_, err := r.Delete(t.Context(), Deletion{NodeType: "n4"}, Request{})
	if none, ok := errors.AsType[*NoOverrideError](err); !ok || none.NodeType != "n4" {
		t.Errorf("delete: %v", err)
	}
	if c, err := r.Delete(t.Context(), Deletion{NodeType: "n4", AllowMissing: true}, Request{}); c != nil || err != nil {
		t.Errorf("deleted %v, %v", c, err)
	}
	r.mustUpdate(t, Request{}, set("n4", 2), set("c3", 3))
	_, err = r.Delete(t.Context(), Deletion{NodeType: "n4", Etag: Etag("n4", nil)}, Request{})
	if _, ok := errors.AsType[*EtagError](err); !ok {
		t.Errorf("delete: %v", err)
	}
	c, err := r.Delete(t.Context(), Deletion{NodeType: "n4", Etag: r.etag("n4")}, Request{Author: "ann"})
	want := []Delta{{"n4", &Value{CPUPerf: 2, MemoryPerf: 1}, nil}}
	if err != nil || c.Number != 2 || c.Author != "ann" || !cmp.Equal(c.Deltas, want) {
		t.Errorf("deleted %+v, %v", c, err)
	}
	if got := r.cpu(); !cmp.Equal(got, map[string]float64{"c3": 3}) {
		t.Errorf("in effect: %v", got)
	}
}

func rolledBack(t *testing.T, s *stored) {
	s.write(t, nil)
	r := s.run(t)
	states := []map[string]Value{{}} // By change number.
	made := func(c *Change, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if c.Number != int64(len(states)) {
			t.Fatalf("change %d, want %d", c.Number, len(states))
		}
		states = append(states, values(s.read(t).overrides))
	}
	update := func(patches ...Patch) {
		t.Helper()
		made(r.Update(t.Context(), patches, Request{}))
	}
	update(set("n4", 2))
	update(set("c3", 3), set("c4", 4), set("n4", 2.5))
	made(r.Delete(t.Context(), Deletion{NodeType: "c3"}, Request{}))
	update(set("c4", 5))
	// Roll back to each change in turn; each rollback is a change, too.
	for _, to := range []int64{3, 2, 1, 0, 4, 2, 7} {
		made(r.Rollback(t.Context(), Rollback{To: to, Newest: new(int64(len(states) - 1))}, Request{Author: "ann"}))
		if diff := cmp.Diff(states[to], states[len(states)-1]); diff != "" {
			t.Errorf("after the rollback to %d: %s", to, diff)
		}
		if last := s.read(t).changes[len(states)-2]; *last.RollbackTo != to || last.Author != "ann" {
			t.Errorf("recorded as %+v", last)
		}
	}
	newest := int64(len(states) - 1)
	if c, err := r.Rollback(t.Context(), Rollback{To: newest}, Request{}); c != nil || err != nil {
		t.Errorf("to the newest: %v, %v", c, err)
	}
	_, err := r.Rollback(t.Context(), Rollback{To: newest + 1}, Request{})
	if _, ok := errors.AsType[*NotKeptError](err); !ok || !strings.Contains(err.Error(), fmt.Sprintf("change %d does not exist", newest+1)) {
		t.Errorf("to a change that does not exist yet: %v", err)
	}
	_, err = r.Rollback(t.Context(), Rollback{To: 1, Newest: new(newest - 1)}, Request{})
	if newer, ok := errors.AsType[*NewerChangeError](err); !ok || newer.Newest != newest {
		t.Errorf("with a newer change: %v", err)
	}
	// Changes that are no longer in the history cannot be undone.
	c := s.read(t)
	c.changes = c.changes[5:]
	data, _, err := format(c)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, data)
	_, err = r.Rollback(t.Context(), Rollback{To: 4}, Request{})
	if kept, ok := errors.AsType[*NotKeptError](err); !ok || kept.Oldest != 5 || !strings.Contains(err.Error(), "changes since 6 can be undone") {
		t.Errorf("beyond the history: %v", err)
	}
	made(r.Rollback(t.Context(), Rollback{To: 5}, Request{}))
	if diff := cmp.Diff(states[5], states[len(states)-1]); diff != "" {
		t.Error(diff)
	}
}

func rolledBackExpiry(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	r := s.run(t, WithClock(clock))
	end := began.Add(time.Hour)
	brief := set("c3", 3)
	brief.ExpireTime = &end
	r.mustUpdate(t, Request{}, set("n4", 2), brief)
	clock.Step(time.Hour)
	r.mustUpdate(t, Request{}, set("n4", 4))
	c, err := r.Rollback(t.Context(), Rollback{To: 1}, Request{})
	if err != nil || c.Number != 4 || len(c.Deltas) != 1 || c.Deltas[0].NodeType != "n4" {
		t.Errorf("rolled back %+v, %v", c, err)
	}
	r.await(t, map[string]float64{"n4": 2})
}

// An expiry counts as soon as the history shows it, even before a replica has stored it.
func rolledBackAfterExpiry(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	writer, reader := s.run(t, WithClock(testingclock.NewFakeClock(began))), s.run(t, WithClock(clock), ReadOnly())
	end := began.Add(time.Hour)
	brief := set("n4", 3)
	brief.ExpireTime = &end
	writer.mustUpdate(t, Request{}, set("n4", 2))
	writer.mustUpdate(t, Request{}, brief)
	reader.await(t, map[string]float64{"n4": 3})
	localcluster.Eventually(t, "the override to expire", func() error {
		clock.Step(time.Hour)
		if got := reader.cpu()["n4"]; got != 2 {
			return fmt.Errorf("override %v", got)
		}
		return nil
	})
	changes, _, err := reader.Changes(Page{Size: 1})
	if err != nil || len(changes) != 1 || changes[0].Number != 3 || !changes[0].Expiry {
		t.Fatalf("the newest change is %+v, %v", changes, err)
	}
	back := func(newest int64) error {
		_, err := reader.Rollback(t.Context(), Rollback{To: 0, Newest: &newest}, Request{ValidateOnly: true})
		return err
	}
	if err := back(3); err != nil {
		t.Errorf("a caller who knows the expiry: %v", err)
	}
	if newer, ok := errors.AsType[*NewerChangeError](back(2)); !ok || newer.Newest != 3 {
		t.Errorf("a caller who does not: %v", back(2))
	}
}

// An override that a request leaves as it is keeps who set it, and its etag.
func unchanged(t *testing.T, s *stored) {
	s.write(t, nil)
	r := s.run(t)
	r.mustUpdate(t, Request{Author: "ann", Reason: "measured"}, set("n4", 2))
	etag := r.etag("n4")
	var after map[string]Override
	check := func(_, overrides map[string]Override) error { after = overrides; return nil }
	if c := r.mustUpdate(t, Request{Author: "bob", Check: check}, set("n4", 2)); c != nil {
		t.Errorf("changed %+v", c)
	}
	if o := after["n4"]; Etag("n4", &o) != etag || o.Provenance.Author != "ann" {
		t.Errorf("the result is %+v", o)
	}
	c := r.mustUpdate(t, Request{Author: "bob"}, set("n4", 2), set("c3", 3))
	if len(c.Deltas) != 1 || c.Deltas[0].NodeType != "c3" || r.etag("n4") != etag {
		t.Errorf("changed %+v, and the etag from %s to %s", c, etag, r.etag("n4"))
	}
}

func expires(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	a, b := s.run(t, WithClock(clock)), s.run(t, WithClock(clock))
	end := began.Add(time.Hour)
	brief := set("c3", 3)
	brief.ExpireTime = &end
	a.mustUpdate(t, Request{Author: "ann"}, set("n4", 2), brief)
	b.await(t, map[string]float64{"c3": 3, "n4": 2})
	clock.Step(time.Hour - time.Second)
	b.await(t, map[string]float64{"c3": 3, "n4": 2})
	for _, r := range []*replica{a, b} {
		// More than one step is needed: a timer that is set just now counts from now.
		localcluster.Eventually(t, "the override to expire", func() error {
			clock.Step(time.Second)
			if got := r.cpu(); !cmp.Equal(got, map[string]float64{"n4": 2}) {
				return fmt.Errorf("overrides %v", got)
			}
			return nil
		})
		if r.etag("c3") != Etag("c3", nil) {
			t.Error("an expired override has an etag of its own")
		}
	}
	want := Change{Number: 2, Time: end, Expiry: true, Reason: "expired", Deltas: []Delta{{"c3", &Value{CPUPerf: 3, MemoryPerf: 1, ExpireTime: end}, nil}}}
	s.awaitChanges(t, 2)
	got := s.read(t)
	if diff := cmp.Diff(want, got.changes[1]); diff != "" || !slices.Equal(slices.Sorted(maps.Keys(got.overrides)), []string{"n4"}) {
		t.Errorf("stored %v after %s", got.overrides, diff)
	}
	if c := b.mustUpdate(t, Request{Author: "bob"}, set("c4", 4)); c.Number != 3 {
		t.Errorf("the next change has number %d", c.Number)
	}
}

// awaitChanges waits until this many changes are stored.
func (s *stored) awaitChanges(t *testing.T, n int) {
	t.Helper()
	localcluster.Eventually(t, "the changes", func() error {
		if c := s.read(t); len(c.changes) != n {
			return fmt.Errorf("%d changes", len(c.changes))
		}
		return nil
	})
}

// temporary returns a patch that sets the cpu performance of n4 until a time.
func temporary(cpu float64, until time.Time) Patch {
	p := set("n4", cpu)
	p.ExpireTime = &until
	return p
}

func fallsBack(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	r := s.run(t, WithClock(clock))
	r.mustUpdate(t, Request{Author: "ann", Reason: "measured"}, set("n4", 2))
	r.mustUpdate(t, Request{Author: "bob"}, temporary(3, began.Add(time.Hour)))
	r.mustUpdate(t, Request{Author: "bob"}, temporary(4, began.Add(2*time.Hour)))
	overrides, err := r.Overrides()
	if o := overrides["n4"]; err != nil || o.CPUPerf != 4 || o.Fallback == nil || o.Fallback.CPUPerf != 2 || o.Fallback.Provenance.Author != "ann" {
		t.Fatalf("overrides %+v, %v", overrides, err)
	}
	localcluster.Eventually(t, "the fallback", func() error {
		clock.Step(time.Hour)
		if got := r.cpu(); !cmp.Equal(got, map[string]float64{"n4": 2}) {
			return fmt.Errorf("overrides %v", got)
		}
		return nil
	})
	s.awaitChanges(t, 4)
	got := s.read(t)
	last := got.changes[3]
	if !last.Expiry || last.Author != "" || last.Deltas[0].From.CPUPerf != 4 || !last.Deltas[0].To.equal(&Value{CPUPerf: 2, MemoryPerf: 1}) {
		t.Errorf("recorded as %+v", last)
	}
	if o := got.overrides["n4"]; o.Fallback != nil || o.Provenance.Author != "ann" || o.Provenance.Reason != "measured" {
		t.Errorf("stored %+v", o)
	}
}

func permanentAgain(t *testing.T, s *stored) {
	s.write(t, nil)
	r := s.run(t)
	r.mustUpdate(t, Request{}, set("n4", 2))
	r.mustUpdate(t, Request{}, temporary(3, time.Now().Add(time.Hour)))
	forever := set("n4", 4)
	forever.ExpireTime = &time.Time{}
	r.mustUpdate(t, Request{}, forever)
	if o := s.read(t).overrides["n4"]; o.CPUPerf != 4 || o.Fallback != nil || !o.ExpireTime.IsZero() {
		t.Errorf("stored %+v", o)
	}
}

func rolledBackFallback(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	r := s.run(t, WithClock(clock))
	r.mustUpdate(t, Request{}, set("n4", 2))
	r.mustUpdate(t, Request{}, temporary(3, began.Add(time.Hour)))
	forever := set("n4", 4)
	forever.ExpireTime = &time.Time{}
	r.mustUpdate(t, Request{}, forever)
	c, err := r.Rollback(t.Context(), Rollback{To: 2}, Request{ValidateOnly: true})
	if want := (&Value{CPUPerf: 3, MemoryPerf: 1, ExpireTime: began.Add(time.Hour), Fallback: &Value{CPUPerf: 2, MemoryPerf: 1}}); err != nil || !c.Deltas[0].To.equal(want) {
		t.Errorf("before the expiry: %+v, %v", c, err)
	}
	clock.Step(2 * time.Hour)
	c, err = r.Rollback(t.Context(), Rollback{To: 2}, Request{})
	if err != nil || !c.Deltas[0].To.equal(&Value{CPUPerf: 2, MemoryPerf: 1}) {
		t.Errorf("after the expiry: %+v, %v", c, err)
	}
}

func sentAgain(t *testing.T, s *stored) {
	s.write(t, nil)
	r := s.run(t)
	first := r.mustUpdate(t, Request{ID: "a", Digest: "1"}, set("n4", 2))
	r.mustUpdate(t, Request{ID: "b", Digest: "1"}, set("n4", 3))
	for name, again := range map[string]func(Request) (*Change, error){
		"update": func(request Request) (*Change, error) { return r.Update(t.Context(), []Patch{set("n4", 2)}, request) },
		"delete": func(request Request) (*Change, error) {
			return r.Delete(t.Context(), Deletion{NodeType: "n4"}, request)
		},
		"rollback": func(request Request) (*Change, error) { return r.Rollback(t.Context(), Rollback{}, request) },
	} {
		for _, check := range []bool{false, true} {
			if c, err := again(Request{ID: "a", Digest: "1", ValidateOnly: check}); err != nil || !cmp.Equal(c, first) {
				t.Errorf("%s: %+v, %v", name, c, err)
			}
			_, err := again(Request{ID: "a", Digest: "2", ValidateOnly: check})
			if fault, ok := errors.AsType[*FieldError](err); !ok || fault.Field != "requestID" || !strings.Contains(fault.Problem, "change 1") {
				t.Errorf("%s that is different: %v", name, err)
			}
		}
	}
	if got := s.read(t); got.overrides["n4"].CPUPerf != 3 || len(got.changes) != 2 {
		t.Errorf("stored %+v", got)
	}
	if _, err := r.Update(t.Context(), []Patch{set("n4", 2)}, Request{ID: strings.Repeat("x", 65)}); err == nil {
		t.Error("accepted an ID of 65 bytes")
	}
}

func missing(t *testing.T, s *stored) {
	r := s.run(t)
	r.await(t, map[string]float64{})
	_, err := r.Update(t.Context(), []Patch{set("n4", 2)}, Request{})
	if _, ok := errors.AsType[*document.MissingError](err); !ok || !strings.Contains(err.Error(), "apply your manifests") {
		t.Errorf("update: %v", err)
	}
	if changes, more, err := r.Changes(Page{Size: 1}); len(changes) > 0 || more || err != nil {
		t.Errorf("changes %v, %v, %v", changes, more, err)
	}
	s.write(t, map[string]string{Key: "overrides: {n4: {cpuPerf: 2, memPerf: 1}}"})
	r.await(t, map[string]float64{"n4": 2})
	s.remove(t)
	localcluster.Eventually(t, "the error", func() error {
		if err := r.table.Sources()[0].Err; err == nil || !strings.Contains(err.Error(), "the 1 last known remain in effect") {
			return fmt.Errorf("error is %w", err)
		}
		return nil
	})
	if got := r.cpu(); !cmp.Equal(got, map[string]float64{"n4": 2}) {
		t.Errorf("in effect: %v", got)
	}
}

func broken(t *testing.T, s *stored) {
	s.write(t, map[string]string{Key: "overrides: {n4: {cpuPerf: 2, memPerf: 1}}"})
	rejected := make(chan error, 10)
	r := s.run(t, OnReject(func(_ *corev1.ConfigMap, err error) { rejected <- err }))
	r.await(t, map[string]float64{"n4": 2})
	const bad = "overrides: {n4: {cpuPerf: 0, memPerf: 1}}"
	s.write(t, map[string]string{Key: bad})
	if err := <-rejected; !strings.Contains(err.Error(), "overrides.n4.cpuPerf: must be set to a finite number above 0") {
		t.Errorf("rejected with %v", err)
	}
	localcluster.Eventually(t, "the error", func() error {
		if err := r.table.Sources()[0].Err; err == nil || !strings.Contains(err.Error(), "ConfigMap "+s.namespace.Name+"/"+s.name+": overrides.n4.cpuPerf: ") {
			return fmt.Errorf("error is %w", err)
		}
		return nil
	})
	if got := r.cpu(); !cmp.Equal(got, map[string]float64{"n4": 2}) {
		t.Errorf("in effect: %v", got)
	}
	_, err := r.Update(t.Context(), []Patch{set("c3", 2)}, Request{})
	if _, ok := errors.AsType[*document.ContentError](err); !ok {
		t.Errorf("update: %v", err)
	}
	s.write(t, map[string]string{Key: "overrides: {c3: {cpuPerf: 2, memPerf: 1}}"})
	r.await(t, map[string]float64{"c3": 2})
}

func refused(t *testing.T, s *stored) {
	s.write(t, nil)
	asNobody := s.namespace.Config()
	asNobody.Impersonate.UserName = "nobody"
	store := New(kubernetes.NewForConfigOrDie(asNobody), s.namespace.Name, s.name)
	_, err := store.Update(t.Context(), []Patch{set("n4", 2)}, Request{})
	if _, ok := errors.AsType[*document.RefusedError](err); !ok {
		t.Errorf("update: %v", err)
	}
	if _, _, err := store.Changes(Page{Size: 1}); err == nil || err.Error() != "overrides are not read yet" {
		t.Errorf("changes: %v", err)
	}
}

func full(t *testing.T, s *stored) {
	c := content{overrides: map[string]Override{}}
	for n := range maxOverrides {
		c.overrides[fmt.Sprintf("type-%d", n)] = Override{Ratio: ratios.Ratio{CPUPerf: 1, MemoryPerf: 1}}
	}
	data, _, err := format(c)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, data)
	r := s.run(t)
	_, err = r.Update(t.Context(), []Patch{set("n4", 2)}, Request{})
	if _, ok := errors.AsType[*FullError](err); !ok || !strings.Contains(err.Error(), "1001 overrides") {
		t.Errorf("one more: %v", err)
	}
	if _, err := r.Delete(t.Context(), Deletion{NodeType: "type-0"}, Request{}); err != nil {
		t.Errorf("one fewer: %v", err)
	}
	r.mustUpdate(t, Request{}, set("n4", 2))
}

func readOnly(t *testing.T, s *stored) {
	s.write(t, map[string]string{Key: "overrides: {n4: {cpuPerf: 2, memPerf: 1}}"})
	r := s.run(t, ReadOnly())
	r.await(t, map[string]float64{"n4": 2})
	for name, try := range map[string]func() (*Change, error){
		"update":   func() (*Change, error) { return r.Update(t.Context(), []Patch{set("n4", 3)}, Request{}) },
		"delete":   func() (*Change, error) { return r.Delete(t.Context(), Deletion{NodeType: "n4"}, Request{}) },
		"rollback": func() (*Change, error) { return r.Rollback(t.Context(), Rollback{}, Request{}) },
	} {
		if _, err := try(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if change, err := r.Update(t.Context(), []Patch{set("n4", 3)}, Request{ValidateOnly: true}); err != nil || change == nil {
		t.Errorf("check: %v, %v", change, err)
	}
	r.await(t, map[string]float64{"n4": 2})
}

func unreadable(t *testing.T, s *stored) {
	s.write(t, nil)
	r := s.run(t)
	r.mustUpdate(t, Request{}, set("n4", 2))
	for field, request := range map[string]Request{"reason": {Reason: "\ufffe"}, "author": {Author: "\uffff"}} {
		_, err := r.Update(t.Context(), []Patch{set("n4", 3)}, request)
		if fault, ok := errors.AsType[*FieldError](err); !ok || fault.Field != field {
			t.Errorf("update: %v", err)
		}
		_, err = r.Delete(t.Context(), Deletion{NodeType: "n4"}, request)
		if fault, ok := errors.AsType[*FieldError](err); !ok || fault.Field != field {
			t.Errorf("delete: %v", err)
		}
	}
	if got := s.read(t).overrides["n4"].CPUPerf; got != 2 {
		t.Errorf("stored %v", got)
	}
}
