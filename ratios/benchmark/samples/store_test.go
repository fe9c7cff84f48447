package samples

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// stored is the ConfigMaps of one store on a real API server.
type stored struct {
	config    *rest.Config
	client    kubernetes.Interface
	namespace string
	prefix    string
	clock     clock.Clock
	// writes counts the writes of all stores of open, including failed ones.
	writes atomic.Int64
}

// roundTrip implements http.RoundTripper by a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// open returns another store of the ConfigMaps that has read them. It runs until the test ends
// or stop is called.
func (s *stored) open(t testing.TB, change ...func(*Config)) (store *Store, stop func()) {
	t.Helper()
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPatch {
				s.writes.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	c := Config{Client: kubernetes.NewForConfigOrDie(config), Namespace: s.namespace, Prefix: s.prefix, Clock: s.clock, OnReject: func(*corev1.ConfigMap, error) {}}
	for _, set := range change {
		set(&c)
	}
	store = New(c)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- store.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
	t.Cleanup(stop)
	localcluster.Eventually(t, "the samples to be read", func() error {
		if err := store.Err(); err != nil && strings.Contains(err.Error(), "not read yet") {
			return err
		}
		return nil
	})
	return store, stop
}

// opened returns a store that runs until the test ends.
func (s *stored) opened(t testing.TB, change ...func(*Config)) *Store {
	t.Helper()
	store, _ := s.open(t, change...)
	return store
}

func readOnly(c *Config) { c.ReadOnly = true }

// name returns the name of the ConfigMap of a node type.
func (s *stored) name(nodeType string) string { return fmt.Sprint(s.prefix, shardOf(nodeType)) }

func (s *stored) get(t testing.TB, nodeType string) *corev1.ConfigMap {
	t.Helper()
	cm, err := s.client.CoreV1().ConfigMaps(s.namespace).Get(t.Context(), s.name(nodeType), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cm
}

// write replaces the text of a node type, as a person would.
func (s *stored) write(t testing.TB, nodeType, text string) {
	t.Helper()
	cm := s.get(t, nodeType)
	cm.Data = map[string]string{nodeType: text}
	if _, err := s.client.CoreV1().ConfigMaps(s.namespace).Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// has waits until a store has this number of samples and no error.
func has(t testing.TB, s *Store, count int) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprint(count, " samples"), func() error {
		if all, _ := s.All(); len(all) != count || s.Err() != nil {
			return fmt.Errorf("%d samples, %w", len(all), s.Err())
		}
		return nil
	})
}

// added adds samples, all of which must have the same outcome.
func added(t testing.TB, s *Store, want Outcome, add ...sample.Sample) {
	t.Helper()
	outcomes, err := s.Add(t.Context(), add)
	if err != nil || len(outcomes) != len(add) {
		t.Fatalf("%v, %v", outcomes, err)
	}
	for i, got := range outcomes {
		if got != want {
			t.Fatalf("outcome of %s is %d, want %d", add[i].ID, got, want)
		}
	}
}

func TestStore(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	config := namespace.Config()
	client := kubernetes.NewForConfigOrDie(config)
	for i, tc := range []struct {
		name string
		test func(*testing.T, *stored)
	}{
		{"added samples are known immediately, soon on all replicas, and after a restart", survives},
		{"writers of two replicas neither lose nor duplicate samples", replicas},
		{"concurrent calls share writes", shared},
		{"a caller that gives up gets an error, and does not affect others", impatient},
		{"writes nothing if nothing changes", unchanged},
		{"the largest content that is allowed can be written", full},
		{"rejects a call as a whole if a sample cannot be stored", unstorable},
		{"invalid content is never overwritten, and does not affect other node types", broken},
		{"samples of an earlier release are read, and packed with the next write", upgraded},
		{"20 machines of 300 models and sizes of one node type are kept", kinds},
		{"a missing ConfigMap is named, and does not affect other node types", missing},
		{"a dry run keeps samples in memory, in addition to stored ones", dryRun},
		{"a preview stores nothing", preview},
		{"watchers are notified of changes, and of nothing else", watched},
		{"10,000 nodes with 8 benchmarks take few writes and little memory", figures},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &stored{config: config, client: client, namespace: namespace.Name, prefix: fmt.Sprintf("samples-%d-", i), clock: clocktesting.NewFakeClock(began.Add(1000 * time.Hour))}
			for shard := range Shards {
				// As in deploy/base: without any managed field, no field would be managed.
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(s.prefix, shard), Labels: map[string]string{"a": "b"}}}
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
		s := &stored{config: asServer, client: client, namespace: namespace.Name, prefix: contract.DefaultNames.SamplesPrefix, clock: clock.RealClock{}}
		apply := func() {
			t.Helper()
			if err := namespace.Apply(t.Context(), deploy.Base()...); err != nil {
				t.Fatal(err)
			}
		}
		apply()
		store := s.opened(t)
		has(t, store, 0)
		var all []sample.Sample
		for i := range 100 {
			all = append(all, measured("a", i-2000, of(fmt.Sprint("type", i))))
		}
		added(t, store, Stored, all...)
		apply()
		has(t, s.opened(t), len(all))
	})
}

func survives(t *testing.T, s *stored) {
	a, stop := s.open(t)
	b := s.opened(t)
	want := []sample.Sample{measured("x", 2, of("c3")), measured("b", 2), measured("a", 1), measured("a", 1, spot, of("t2d"))}
	added(t, a, Stored, want...)
	if all, _ := a.All(); !slices.Equal(all, want) {
		t.Errorf("%v immediately", all)
	}
	has(t, b, len(want))
	stop()
	restarted := s.opened(t)
	has(t, restarted, len(want))
	if all, _ := restarted.All(); !slices.Equal(all, want) {
		t.Errorf("%v after a restart", all)
	}
	added(t, restarted, Known, want...)
}

func replicas(t *testing.T, s *stored) {
	stores := []*Store{s.opened(t), s.opened(t)}
	const writers, each = 50, 4
	var stored atomic.Int64
	var working sync.WaitGroup
	for i, store := range stores {
		for w := range writers {
			working.Go(func() {
				for n := range each {
					// Its own sample, and one that all others send, too.
					add := []sample.Sample{
						measured(fmt.Sprintf("replica%d-writer%d", i, w), n, by(fmt.Sprint("kernel", w%8)), of(fmt.Sprint("type", w%3))),
						measured("all", n, of("type0")),
					}
					outcomes, err := store.Add(t.Context(), add)
					if err != nil || outcomes[0] != Stored || outcomes[1] != Stored && outcomes[1] != Known {
						t.Errorf("%v, %v", outcomes, err)
						return
					}
					if outcomes[1] == Stored {
						stored.Add(1)
					}
				}
			})
		}
	}
	working.Wait()
	if stored.Load() != each {
		t.Errorf("the %d common samples were stored %d times", each, stored.Load())
	}
	for _, store := range append(stores, s.opened(t)) {
		has(t, store, len(stores)*writers*each+each)
	}
}

func shared(t *testing.T, s *stored) {
	store := s.opened(t)
	store.SetLimits(Limits{PerKey: 2000})
	const calls = 1000
	var working sync.WaitGroup
	for i := range calls {
		working.Go(func() {
			outcomes, err := store.Add(t.Context(), []sample.Sample{measured(fmt.Sprint("m", i), 1)})
			if err != nil || outcomes[0] != Stored {
				t.Errorf("%v, %v", outcomes, err)
			}
		})
	}
	working.Wait()
	has(t, store, calls)
	t.Logf("%d calls took %d writes", calls, s.writes.Load())
	if s.writes.Load() > calls/10 {
		t.Errorf("%d calls took %d writes", calls, s.writes.Load())
	}
}

func impatient(t *testing.T, s *stored) {
	store := s.opened(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	outcomes, err := store.Add(gone, []sample.Sample{measured("a", 1), measured("b", 1)})
	if !errors.Is(err, context.Canceled) || !slices.Equal(outcomes, []Outcome{NotStored, NotStored}) {
		t.Errorf("%v, %v", outcomes, err)
	}
	added(t, store, Stored, measured("c", 1))
	has(t, store, 3)
	added(t, store, Known, measured("a", 1), measured("b", 1))
}

func unchanged(t *testing.T, s *stored) {
	store := s.opened(t)
	added(t, store, Stored, measured("a", 1))
	before, _ := store.All()
	_, revision := store.All()
	writes := s.writes.Load()
	added(t, store, Known, measured("a", 1))
	added(t, store, Conflict, measured("a", 1, spot))
	store.SetLimits(Limits{MaxAge: time.Hour})
	added(t, store, Old, measured("b", 1))
	if s.writes.Load() != writes {
		t.Errorf("%d additional writes", s.writes.Load()-writes)
	}
	if after, now := store.All(); now != revision || &after[0] != &before[0] {
		t.Errorf("the snapshot changed, revision %d after %d", now, revision)
	}
}

func full(t *testing.T, s *stored) {
	store := s.opened(t)
	store.SetLimits(Limits{PerKey: 1 << 20, Bytes: 1 << 30})
	var add []sample.Sample
	for i := 0; len(add) < 5000; i++ {
		nodeType := fmt.Sprintf("%s%05d", strings.Repeat("n", 58), i)
		if shardOf(nodeType) == 0 {
			add = append(add, measured("a", len(add)%900, of(nodeType), func(s *sample.Sample) { s.Unit = strings.Repeat(`"`, i%20) }))
		}
	}
	outcomes, err := store.Add(t.Context(), add)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, o := range outcomes {
		if o == Stored {
			kept++
		}
	}
	if kept == len(add) || kept < 1000 {
		t.Errorf("%d kept", kept)
	}
	cm := s.get(t, add[0].NodeType)
	if len(cm.ManagedFields) < 2 {
		t.Errorf("managed by %v", cm.ManagedFields)
	}
	t.Logf("%d of %d kept, %d bytes of samples, %d bytes as protobuf", kept, len(add), bytesOf(cm.Data), cm.Size())
	added(t, store, Stored, measured("late", 999, of(add[0].NodeType)))
}

func unstorable(t *testing.T, s *stored) {
	store := s.opened(t)
	for name, bad := range map[string]sample.Sample{
		"no node type":           measured("a", 1, of(""), func(s *sample.Sample) { s.InstanceType = "n4-standard-8" }),
		"an invalid node type":   measured("a", 1, of("../n4")),
		"no score":               measured("a", 1, func(s *sample.Sample) { s.Score = 0 }),
		"the future":             measured("a", 2000),
		"text that is not UTF-8": measured("a", 1, func(s *sample.Sample) { s.Machine = "a\xff" }),
	} {
		outcomes, err := store.Add(t.Context(), []sample.Sample{measured("good", 1), bad})
		if err == nil || !strings.HasPrefix(err.Error(), "add sample 1: ") || outcomes != nil {
			t.Errorf("%s: %v, %v", name, outcomes, err)
		}
	}
	if s.writes.Load() > 0 {
		t.Error("something was written")
	}
}

func broken(t *testing.T, s *stored) {
	rejected := make(chan string, 100)
	store := s.opened(t, func(c *Config) {
		c.OnReject = func(cm *corev1.ConfigMap, _ error) { rejected <- cm.Name }
	})
	added(t, store, Stored, measured("a", 1), measured("b", 1), measured("a", 1, of("c3")))
	good := s.get(t, "n4").Data["n4"]
	bad := good + "\nwhat is this\n"
	s.write(t, "n4", bad)
	localcluster.Eventually(t, "the error", func() error {
		if err := store.Err(); err == nil || !strings.Contains(err.Error(), s.name("n4")+": key n4, line 2: ") {
			return fmt.Errorf("error is %w", err)
		}
		return nil
	})
	if got := <-rejected; got != s.name("n4") {
		t.Errorf("%s was rejected", got)
	}
	outcomes, err := store.Add(t.Context(), []sample.Sample{measured("c", 1), measured("c", 1, of("c3"))})
	var content *document.ContentError
	if !errors.As(err, &content) || !slices.Equal(outcomes, []Outcome{NotStored, Stored}) {
		t.Errorf("%v, %v", outcomes, err)
	}
	if got := s.get(t, "n4").Data["n4"]; got != bad {
		t.Errorf("overwritten with %s", got)
	}
	if all, _ := store.All(); len(all) != 4 {
		t.Errorf("samples in effect: %v", all)
	}
	s.write(t, "n4", good)
	has(t, store, 4)
	added(t, store, Stored, measured("c", 1))
}

func missing(t *testing.T, s *stored) {
	cms := s.client.CoreV1().ConfigMaps(s.namespace)
	if err := cms.Delete(t.Context(), s.name("n4"), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	store := s.opened(t)
	has(t, store, 0)
	says := func(err error) bool {
		return err != nil && strings.Contains(err.Error(), s.name("n4")) && strings.Contains(err.Error(), "your manifests")
	}
	if err := store.Missing(); !says(err) {
		t.Errorf("missing: %v", err)
	}
	outcomes, err := store.Add(t.Context(), []sample.Sample{measured("a", 1), measured("a", 1, of("c3"))})
	var gone *document.MissingError
	if !errors.As(err, &gone) || !says(err) || !slices.Equal(outcomes, []Outcome{NotStored, Stored}) {
		t.Errorf("%v, %v", outcomes, err)
	}
	if _, err := cms.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name("n4")}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	added(t, store, Stored, measured("a", 1))
	if err := store.Missing(); err != nil {
		t.Errorf("missing: %v", err)
	}
	if err := cms.Delete(t.Context(), s.name("n4"), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the error", func() error {
		if err := store.Err(); !says(err) {
			return fmt.Errorf("error is %w", err)
		}
		return nil
	})
	if all, _ := store.All(); len(all) != 2 {
		t.Errorf("samples in effect: %v", all)
	}
}

func dryRun(t *testing.T, s *stored) {
	store := s.opened(t)
	dry := s.opened(t, readOnly)
	added(t, store, Stored, measured("a", 1))
	has(t, dry, 1)
	writes := s.writes.Load()
	added(t, dry, Known, measured("a", 1))
	added(t, dry, Stored, measured("b", 1), measured("b", 1, of("c3")))
	added(t, dry, Known, measured("b", 1))
	has(t, dry, 3)
	if s.writes.Load() != writes {
		t.Error("a dry run has written")
	}
	added(t, store, Stored, measured("c", 1))
	has(t, dry, 4)
	has(t, store, 2)
}

func preview(t *testing.T, s *stored) {
	store := s.opened(t)
	added(t, store, Stored, measured("a", 1))
	outcomes, err := store.Preview([]sample.Sample{measured("a", 1), measured("b", 1), measured("a", 1, spot)})
	if err != nil || !slices.Equal(outcomes, []Outcome{Known, Stored, Conflict}) {
		t.Errorf("%v, %v", outcomes, err)
	}
	if all, _ := store.All(); len(all) != 1 || s.writes.Load() != 1 {
		t.Errorf("%v after %d writes", all, s.writes.Load())
	}
}

func watched(t *testing.T, s *stored) {
	a, b := s.opened(t), s.opened(t)
	has(t, a, 0)
	has(t, b, 0)
	changes := b.Watch()
	added(t, a, Stored, measured("a", 1))
	<-changes
	if all, _ := b.All(); len(all) != 1 {
		t.Errorf("%v", all)
	}
	// The same content, written by another actor, is not a change.
	_, revision := b.All()
	cm := s.get(t, "n4")
	cm.Annotations = map[string]string{"a": "b"}
	if _, err := s.client.CoreV1().ConfigMaps(s.namespace).Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	added(t, a, Stored, measured("a", 1, of("c3")))
	<-changes
	if all, now := b.All(); len(all) != 2 || now != revision+1 {
		t.Errorf("revision %d after %d: %v", now, revision, all)
	}
}
