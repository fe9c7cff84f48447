package recorder

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/journal"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// stored is the journal of a test on a real API server.
type stored struct {
	config    *rest.Config
	client    kubernetes.Interface
	namespace string
	prefix    string
	clock     *clocktesting.FakeClock
}

// replica is a process with a recorder.
type replica struct {
	*Recorder
	leads, dead atomic.Bool
	// deaf replicas do not receive what they watch.
	deaf atomic.Bool
	// lose reports whether the answer to a write of a ConfigMap is lost; nil if none is.
	lose      atomic.Pointer[func(name string) bool]
	holds     atomic.Pointer[hold.Table]
	overrides func() []journal.Entry
	// stop ends it in order, and waits for that.
	stop func()
}

// kill ends the process immediately: nothing that it sends arrives.
func (r *replica) kill() {
	r.dead.Store(true)
	r.leads.Store(false)
}

// heard is the body of an answer, which arrives only while the replica is not deaf.
type heard struct {
	io.ReadCloser
	deaf *atomic.Bool
	ctx  context.Context
}

func (h heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	for h.deaf.Load() && h.ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return n, err
}

// roundTrip implements http.RoundTripper by a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (s *stored) start(t *testing.T, name string) *replica {
	t.Helper()
	r := &replica{}
	r.holds.Store(hold.NewTable(nil))
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			if r.dead.Load() {
				return nil, errors.New("the process was killed")
			}
			response, err := next.RoundTrip(request)
			if lose := r.lose.Load(); err == nil && lose != nil && request.Method != http.MethodGet && (*lose)(path.Base(request.URL.Path)) {
				return nil, errors.Join(response.Body.Close(), errors.New("the answer was lost"))
			}
			if err == nil && request.URL.Query().Has("watch") {
				response.Body = heard{response.Body, &r.deaf, request.Context()}
			}
			return response, err
		})
	})
	r.Recorder = New(Config{
		Client: kubernetes.NewForConfigOrDie(config), Namespace: s.namespace, Prefix: s.prefix, OnReject: func(*corev1.ConfigMap, error) {}, Replica: name, Leads: r.leads.Load,
		Holds: func() (*hold.Table, error) { return r.holds.Load(), nil },
		Overrides: func() []journal.Entry {
			if r.overrides == nil {
				return nil
			}
			return r.overrides()
		},
		Clock: s.clock,
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	following, stopFollowing := context.WithCancel(context.Background())
	running.Go(func() {
		if err := r.Run(following); err != nil {
			t.Error(err)
		}
	})
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		_ = r.Around(func(ctx context.Context) error { <-ctx.Done(); return nil })(ctx)
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		<-worked
		stopFollowing()
		running.Wait()
	})
	t.Cleanup(r.stop)
	localcluster.Eventually(t, name+" to read the journal", r.Ready)
	return r
}

// lead lets a replica lead, and waits until it records.
func (s *stored) lead(t *testing.T, r *replica) {
	t.Helper()
	r.leads.Store(true)
	localcluster.Eventually(t, r.config.Replica+" to record", func() error {
		s.clock.Step(time.Second)
		cm, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(t.Context(), Names(s.prefix)[0], metav1.GetOptions{})
		if err == nil && !strings.Contains(cm.Data[markKey], `"`+r.config.Replica+`"`) {
			err = fmt.Errorf("the mark is %q", cm.Data[markKey])
		}
		return err
	})
	s.clock.Step(time.Second)
}

// has waits until a replica has exactly these entries, the newest first. Meanwhile, time passes.
func (s *stored) has(t *testing.T, r *replica, want ...string) {
	t.Helper()
	localcluster.Eventually(t, "the journal", func() error {
		s.clock.Step(time.Second)
		if diff := cmp.Diff(want, texts(r.Entries())); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}

func texts(entries []*journal.Entry) (all []string) {
	for _, e := range entries {
		text := fmt.Sprintf("%s %s %s %s by %s: %s → %s", e.Kind, e.Reason, e.Namespace, e.Workload.Name+e.Pod, e.Author, e.Before(), e.After())
		if e.Count > 0 {
			text += fmt.Sprintf(" (%d of %d)", e.Count, e.Pods)
		}
		all = append(all, text)
	}
	return all
}

// evicted records an eviction.
func (r *replica) evicted(pod string) {
	r.Evicted(Pod{Namespace: "shop", Name: pod, UID: pod, Node: "n1", Workloads: []workload.Workload{{Kind: "ReplicaSet", Name: "web-1"}, {Kind: "Deployment", Name: "web"}}}, plan.Reason{Code: contract.Evicted})
}

const (
	evictedA = "Eviction Evicted shop weba by workload-resizer:  → "
	evictedB = "Eviction Evicted shop webb by workload-resizer:  → "
)

func (r *replica) resized(uid string) { r.resizedOf(uid, "web") }

// resizedOf records that a pod of a Deployment was resized.
func (r *replica) resizedOf(uid, name string) {
	r.Wrote(&plan.Plan{Subject: plan.Subject{Pod: types.NamespacedName{Namespace: "shop", Name: uid}, UID: types.UID(uid), Workloads: []workload.Workload{{Kind: "Deployment", Name: name}}}, Decision: plan.Resize},
		[]plan.Reason{{Code: contract.Resized}})
}

func TestRecorder(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	config := namespace.Config()
	client := kubernetes.NewForConfigOrDie(config)
	for i, tc := range []struct {
		name string
		test func(*testing.T, *stored)
	}{
		{"entries survive a killed leader, and what it may have lost is a gap", killed},
		{"a leader that is killed as soon as it records has marked the gap before it", killedSoon},
		{"a leader that ends in order stores everything, and leaves no gap", ended},
		{"a time without a leader is a gap", leaderless},
		{"resizes of an hour are one entry, under two leaders", hourly},
		{"holds and the freeze are recorded by what is stored of them", holds},
		{"the replica that a caller asked records who ended a hold", asked},
		{"changes to overrides are recorded once", overridden},
		{"what cannot be stored is stored later", later},
		{"damaged entries are kept as they are, and others are stored elsewhere", damaged},
		{"a full journal drops the oldest resizes, and marks the gap", fills},
		{"a leader that has not heard of the leader before it marks the gap between them", deaf},
		{"a leader that is killed when it has dropped resizes has marked the gap", dropsAndDies},
		{"a leader whose write was not answered stores nothing twice", unanswered},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &stored{config: config, client: client, namespace: namespace.Name, prefix: fmt.Sprintf("journal-%d", i), clock: clocktesting.NewFakeClock(noon)}
			for _, name := range Names(s.prefix) {
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"a": "b"}}}
				if _, err := client.CoreV1().ConfigMaps(s.namespace).Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			tc.test(t, s)
		})
	}
	t.Run("the rights of deploy/base suffice, and applying it again deletes nothing", func(t *testing.T) {
		asServer := rest.CopyConfig(config)
		asServer.Impersonate.UserName = "system:serviceaccount:" + namespace.Name + ":" + deploy.ServiceAccount
		s := &stored{config: asServer, client: client, namespace: namespace.Name, prefix: contract.DefaultNames.JournalPrefix, clock: clocktesting.NewFakeClock(noon)}
		apply := func() {
			t.Helper()
			if err := namespace.Apply(t.Context(), deploy.Base()...); err != nil {
				t.Fatal(err)
			}
		}
		apply()
		a := s.start(t, "a")
		a.leads.Store(true)
		a.evicted("a")
		s.has(t, a, evictedA)
		a.stop()
		apply()
		s.has(t, s.start(t, "b"), evictedA)
	})
}

func killed(t *testing.T, s *stored) {
	a, b := s.start(t, "a"), s.start(t, "b")
	s.lead(t, a)
	a.evicted("a")
	s.has(t, b, evictedA)
	a.resized("lost")
	s.clock.Step(time.Second)
	a.kill()
	s.clock.Step(20 * time.Second)
	b.leads.Store(true)
	b.evicted("b")
	want := []string{evictedB, evictedA, "Gap NotStored   by :  → "}
	s.has(t, b, want...)
	gap := b.Entries()[2]
	if !gap.At.Before(b.Entries()[1].At) || gap.Last.Sub(gap.At) < 20*time.Second {
		t.Errorf("the gap is from %s to %s", gap.At, gap.Last)
	}
	s.has(t, s.start(t, "c"), want...)
}

func killedSoon(t *testing.T, s *stored) {
	a, b, c := s.start(t, "a"), s.start(t, "b"), s.start(t, "c")
	s.lead(t, a)
	a.kill()
	s.clock.Step(20 * time.Second)
	s.lead(t, b)
	b.kill()
	s.clock.Step(20 * time.Second)
	s.lead(t, c)
	s.has(t, c, "Gap NotStored   by :  → ", "Gap NotStored   by :  → ")
	if gaps := c.Entries(); gaps[0].At.After(gaps[1].Last) || gaps[0].Last.Sub(gaps[1].At) < 40*time.Second {
		t.Errorf("the gaps are from %s to %s, and from %s to %s", gaps[1].At, gaps[1].Last, gaps[0].At, gaps[0].Last)
	}
}

func deaf(t *testing.T, s *stored) {
	a, b := s.start(t, "a"), s.start(t, "b")
	b.deaf.Store(true)
	s.lead(t, a)
	a.evicted("a")
	s.has(t, a, evictedA)
	a.kill()
	s.clock.Step(20 * time.Second)
	s.lead(t, b)
	b.deaf.Store(false)
	s.has(t, b, evictedA, "Gap NotStored   by :  → ")
}

func ended(t *testing.T, s *stored) {
	a := s.start(t, "a")
	s.lead(t, a)
	a.resized("1")
	s.clock.Step(time.Second)
	a.evicted("a")
	a.stop()
	b := s.start(t, "b")
	s.lead(t, b)
	b.evicted("b")
	s.has(t, b, evictedB, evictedA, "Resize Resized shop web by workload-resizer:  →  (1 of 1)")
}

func leaderless(t *testing.T, s *stored) {
	a := s.start(t, "a")
	s.lead(t, a)
	a.evicted("a")
	s.has(t, a, evictedA)
	a.stop()
	s.clock.Step(time.Hour)
	b := s.start(t, "b")
	b.leads.Store(true)
	s.has(t, b, "Gap NotRecorded   by :  → ", evictedA)
}

func hourly(t *testing.T, s *stored) {
	a := s.start(t, "a")
	s.lead(t, a)
	a.resized("1")
	a.resized("2")
	a.resized("1")
	a.stop()
	b := s.start(t, "b")
	s.lead(t, b)
	b.resized("3")
	b.stop()
	s.has(t, s.start(t, "c"), "Resize Resized shop web by workload-resizer:  →  (4 of 3)")
}

func holds(t *testing.T, s *stored) {
	a := s.start(t, "a")
	a.leads.Store(true)
	pause := hold.Hold{Kind: hold.Pause, Scope: hold.Scope{Namespace: "shop"}, Author: "ann", Reason: "maintenance", Since: noon}
	breaker := hold.Hold{Kind: hold.Breaker, Scope: hold.Scope{Namespace: "shop", Workload: workload.Workload{Kind: "Deployment", Name: "web"}}, Author: contract.AppName, Reason: "2 of 3 pods", Since: noon.Add(time.Second)}
	a.holds.Store(hold.NewTable([]hold.Hold{pause, breaker}).Frozen(&hold.Freeze{Author: "bob", Reason: "incident", Since: noon.Add(2 * time.Second)}))
	began := []string{"Freeze incident   by bob: none → frozen", "Breaker 2 of 3 pods shop web by workload-resizer: none → open", "Hold maintenance shop  by ann: none → pause"}
	s.has(t, a, began...)
	s.clock.Step(time.Minute)
	a.holds.Store(hold.NewTable([]hold.Hold{breaker}).Frozen(&hold.Freeze{Author: "bob", Reason: "incident", Since: noon.Add(2 * time.Second)}))
	s.has(t, a, append([]string{"Hold  shop  by : pause → none"}, began...)...)
	a.stop()
	b := s.start(t, "b")
	b.holds.Store(hold.NewTable([]hold.Hold{breaker}))
	b.leads.Store(true)
	s.has(t, b, append([]string{"Freeze    by : frozen → none", "Hold  shop  by : pause → none"}, began...)...)
}

func asked(t *testing.T, s *stored) {
	a, b := s.start(t, "a"), s.start(t, "b")
	a.leads.Store(true)
	pause := hold.Hold{Kind: hold.Pause, Scope: hold.Scope{Namespace: "shop"}, Author: "ann", Reason: "maintenance", Since: noon}
	a.holds.Store(hold.NewTable([]hold.Hold{pause}))
	s.has(t, a, "Hold maintenance shop  by ann: none → pause")
	a.holds.Store(hold.NewTable(nil))
	s.has(t, a, "Hold  shop  by : pause → none", "Hold maintenance shop  by ann: none → pause")
	b.HoldsEnded([]hold.Hold{pause}, "bob", "done")
	s.has(t, a, "Hold done shop  by bob: pause → none", "Hold maintenance shop  by ann: none → pause")
}

func overridden(t *testing.T, s *stored) {
	change := func(number int) journal.Entry {
		return journal.Entry{Kind: journal.Override, At: noon.Add(time.Duration(number) * time.Second), Author: "ann", Reason: "measured", From: "none", To: fmt.Sprint(number), Ref: fmt.Sprint("change ", number)}
	}
	a := s.start(t, "a")
	a.overrides = func() []journal.Entry { return []journal.Entry{change(2), change(1)} }
	a.leads.Store(true)
	s.has(t, a, "Override measured   by ann: none → 2", "Override measured   by ann: none → 1")
	a.stop()
	b := s.start(t, "b")
	b.overrides = func() []journal.Entry { return []journal.Entry{change(3), change(2), change(1)} }
	b.leads.Store(true)
	s.has(t, b, "Override measured   by ann: none → 3", "Override measured   by ann: none → 2", "Override measured   by ann: none → 1")
}

func later(t *testing.T, s *stored) {
	a, b := s.start(t, "a"), s.start(t, "b")
	a.leads.Store(true)
	a.evicted("a")
	s.has(t, b, evictedA)
	a.dead.Store(true)
	a.evicted("b")
	s.clock.Step(time.Minute)
	a.dead.Store(false)
	s.has(t, b, evictedB, evictedA)
}

func damaged(t *testing.T, s *stored) {
	api := s.client.CoreV1().ConfigMaps(s.namespace)
	name := Names(s.prefix)[1]
	cm, err := api.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cm.Data = map[string]string{segmentKey: "damaged"}
	if _, err = api.Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	a := s.start(t, "a")
	a.leads.Store(true)
	a.evicted("a")
	a.resized("1")
	a.stop()
	b := s.start(t, "b")
	if got := texts(b.Entries()); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if err := b.Err(); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("%v", err)
	}
	if cm, err = api.Get(t.Context(), name, metav1.GetOptions{}); err != nil || cm.Data[segmentKey] != "damaged" {
		t.Errorf("%v, %v", cm.Data, err)
	}
}

// full fills all ConfigMaps with segments of resizes.
func (s *stored) full(t *testing.T) {
	t.Helper()
	api := s.client.CoreV1().ConfigMaps(s.namespace)
	for slot, name := range Names(s.prefix) {
		began := noon.Add(time.Duration(slot-100) * time.Hour)
		segment := (&journal.Segment{Class: journal.Resizes, Number: int64(slot + 1)}).With("b", many(began), noon)
		text, err := segment.Text()
		if err != nil {
			t.Fatal(err)
		}
		cm, err := api.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		cm.Data = map[string]string{segmentKey: text}
		if _, err = api.Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

func fills(t *testing.T, s *stored) {
	s.full(t)
	a := s.start(t, "a")
	before := len(a.Entries())
	a.leads.Store(true)
	a.evicted("a")
	localcluster.Eventually(t, "the gap", func() error {
		s.clock.Step(time.Second)
		var acts []*journal.Entry
		for _, e := range a.Entries() {
			if e.Kind != journal.Resize {
				acts = append(acts, e)
			}
		}
		if diff := cmp.Diff([]string{evictedA, "Gap Full   by :  → "}, texts(acts)); diff != "" {
			return errors.New(diff)
		}
		if gap := acts[1]; !gap.At.Equal(noon.Add(-100*time.Hour)) || !gap.Last.Equal(noon.Add(-100*time.Hour+9*time.Second)) {
			return fmt.Errorf("the gap is from %s to %s", gap.At, gap.Last)
		}
		return nil
	})
	if after := len(a.Entries()); after != before-10+2 {
		t.Errorf("%d entries, %d before", after, before)
	}
}

// dropsAndDies lets resizes and acts replace the oldest segments, and kills the leader at the second replacement.
func dropsAndDies(t *testing.T, s *stored) {
	s.full(t)
	a, b := s.start(t, "a"), s.start(t, "b")
	s.lead(t, a)
	random := rand.NewChaCha8([32]byte{})
	for i := range 2000 {
		name := make([]byte, 180)
		_, _ = random.Read(name)
		a.resizedOf(fmt.Sprint(i), base64.StdEncoding.EncodeToString(name))
	}
	a.lose.Store(new(func(name string) bool {
		if name == Names(s.prefix)[1] {
			a.kill()
		}
		return a.dead.Load()
	}))
	s.clock.Step(6 * time.Minute)
	localcluster.Eventually(t, "the gaps", func() error {
		s.clock.Step(time.Second)
		gaps, replaced := 0, b.Book()[1].Number > 2
		for _, e := range b.Entries() {
			if e.Reason == "Full" {
				gaps++
			}
		}
		switch {
		case replaced && gaps != 2:
			t.Fatalf("2 segments were replaced, and there are %d gaps", gaps)
		case !replaced:
			return errors.New("resizes have not replaced the second segment")
		}
		return nil
	})
}

// unanswered loses the answer to each first write of a ConfigMap.
func unanswered(t *testing.T, s *stored) {
	a, b := s.start(t, "a"), s.start(t, "b")
	s.lead(t, a)
	var mu sync.Mutex
	lost := map[string]bool{}
	a.lose.Store(new(func(name string) bool {
		mu.Lock()
		defer mu.Unlock()
		before := lost[name]
		lost[name] = true
		return !before
	}))
	a.resized("1")
	a.resized("2")
	s.clock.Step(time.Second)
	a.evicted("a")
	s.clock.Step(6 * time.Minute)
	s.has(t, b, evictedA, "Resize Resized shop web by workload-resizer:  →  (2 of 2)")
	a.stop()
	s.has(t, b, evictedA, "Resize Resized shop web by workload-resizer:  →  (2 of 2)")
	mu.Lock()
	defer mu.Unlock()
	if len(lost) != 2 {
		t.Errorf("answers were lost of %v", lost)
	}
}

// many returns 10 resizes that begin at a time.
func many(began time.Time) (all []journal.Entry) {
	for i := range 10 {
		at := began.Add(time.Duration(i) * time.Second)
		all = append(all, journal.Entry{Kind: journal.Resize, At: at, Namespace: "shop", Workload: workload.Workload{Kind: "Deployment", Name: fmt.Sprint("w", i)}, Reason: "Resized", Count: 1, Pods: 1, Ref: at.String()})
	}
	return all
}
