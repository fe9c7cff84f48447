package hold

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// stored is a ConfigMap of a real API server, which the test controls.
type stored struct {
	namespace *localcluster.Namespace
	client    kubernetes.Interface
	name      string
}

func TestStore(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	client := kubernetes.NewForConfigOrDie(namespace.Config())
	t.Run("works with the permissions of deploy/base, and applying it again ends no hold", func(t *testing.T) { deployed(t, namespace) })
	for i, tc := range []struct {
		name string
		test func(*testing.T, *stored)
	}{
		{"applies a hold immediately where it was put, and soon on every replica", inForce},
		{"keeps all concurrent writes", concurrent},
		{"updates a hold of a scope, and keeps a hold of another kind", updated},
		{"opens a breaker once, and does not open it again for what happened before it was reset", opensABreaker},
		{"release ends the named holds, and returns which continue", released},
		{"checks a change without writing it", checked},
		{"has no holds without a ConfigMap, and stores none", missing},
		{"keeps the holds in effect when the ConfigMap is deleted", deleted},
		{"applies what it read, even if it writes nothing", caughtUp},
		{"returns RefusedError if the API server denies permission", refused},
		{"keeps the last good holds if the content is invalid, and does not overwrite it", broken},
		{"is not ready if the content is invalid from the start", brokenFromTheStart},
		{"ends holds when they expire", expires},
		{"drops holds of deleted pods, except the newest", prunes},
		{"writes nothing if it is read-only", readOnly},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, &stored{namespace, client, fmt.Sprintf("holds-%d", i)}) })
	}
}

// write writes data as a user would with kubectl; nil writes no data.
func (s *stored) write(t *testing.T, data map[string]string) {
	t.Helper()
	api := s.client.CoreV1().ConfigMaps(s.namespace.Name)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: s.name}, Data: data}
	_, err := api.Update(t.Context(), cm, metav1.UpdateOptions{})
	if err != nil {
		_, err = api.Create(t.Context(), cm, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stored) read(t *testing.T) map[string]string {
	t.Helper()
	cm, err := s.client.CoreV1().ConfigMaps(s.namespace.Name).Get(t.Context(), s.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cm.Data
}

func (s *stored) remove(t *testing.T) {
	t.Helper()
	if err := s.client.CoreV1().ConfigMaps(s.namespace.Name).Delete(t.Context(), s.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// run runs a store of the ConfigMap until the test ends.
func (s *stored) run(t *testing.T, opts ...Option) *Store {
	t.Helper()
	return running(t, New(s.client, s.namespace.Name, s.name, opts...))
}

func running(t testing.TB, store *Store) *Store {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- store.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
	return store
}

// await waits until holds with these scopes are in effect.
func await(t *testing.T, s *Store, want ...Scope) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("holds %v", want), func() error {
		table, err := s.Ready()
		if err != nil {
			return err
		}
		if got := scopes(table.All()); !cmp.Equal(got, want) {
			return fmt.Errorf("holds %v", got)
		}
		return s.Err()
	})
}

func awaitErr(t *testing.T, s *Store, want string) {
	t.Helper()
	localcluster.Eventually(t, "the error "+want, func() error {
		if err := s.Err(); err == nil || !strings.Contains(Quoted(err).Error(), want) {
			return fmt.Errorf("error is %w", err)
		}
		return nil
	})
}

func scopes(holds []Hold) []Scope {
	var all []Scope
	for _, h := range holds {
		all = append(all, h.Scope)
	}
	return all
}

// pauseOf returns data as a user may write it.
func pauseOf(namespace string) map[string]string {
	return map[string]string{"pause.namespace." + namespace: "{kind: Pause, namespace: " + namespace + "}"}
}

func mustPut(t *testing.T, s *Store, h Hold) Hold {
	t.Helper()
	h, err := s.Put(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func deployed(t *testing.T, namespace *localcluster.Namespace) {
	apply := func() {
		t.Helper()
		if err := namespace.Apply(t.Context(), deploy.Base()...); err != nil {
			t.Fatal(err)
		}
	}
	apply()
	asServer := namespace.Config()
	asServer.Impersonate.UserName = "system:serviceaccount:" + namespace.Name + ":" + deploy.ServiceAccount
	run := func() *Store {
		return running(t, New(kubernetes.NewForConfigOrDie(asServer), namespace.Name, contract.DefaultNames.Holds))
	}
	store := run()
	await(t, store)
	mustPut(t, store, Hold{Kind: Pause, Scope: shop})
	apply()
	await(t, run(), shop)
	if _, err := store.Release(t.Context(), Ending{Scope: cluster, Nested: true}); err != nil {
		t.Error(err)
	}
	await(t, store)
}

func inForce(t *testing.T, s *stored) {
	s.write(t, nil)
	a, b := s.run(t), s.run(t)
	await(t, a)
	await(t, b)
	changes := b.Watch()
	mustPut(t, a, Hold{Kind: Pause, Scope: shop, Reason: "why", Author: "ann"})
	if h, ok := a.table.Load().Of("shop", "web", "1"); !ok || h.Kind != Pause || h.Reason != "why" || h.Author != "ann" {
		t.Errorf("not in effect where it was put: %+v", h)
	}
	<-changes
	await(t, b, shop)
	if text := s.read(t)["pause.namespace.shop"]; !strings.HasPrefix(text, "author: ann\nkind: Pause\n") {
		t.Errorf("stored as %q", text)
	}
}

func concurrent(t *testing.T, s *stored) {
	s.write(t, nil)
	a, b := s.run(t), s.run(t)
	const each = 10
	var want []Scope
	var writers sync.WaitGroup
	for n := range 2 * each {
		scope := Scope{Namespace: fmt.Sprintf("ns-%02d", n)}
		want = append(want, scope)
		writers.Go(func() {
			if _, err := []*Store{a, b}[n%2].Put(t.Context(), Hold{Kind: Restore, Scope: scope}); err != nil {
				t.Errorf("%s: %v", scope, err)
			}
		})
	}
	writers.Wait()
	await(t, a, want...)
	await(t, b, want...)
}

func updated(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	store := s.run(t, WithClock(clock))
	await(t, store)
	first := mustPut(t, store, Hold{Kind: Pause, Scope: shop, Reason: "one"})
	clock.Step(time.Minute)
	second := mustPut(t, store, Hold{Kind: Pause, Scope: shop, Reason: "two", Expires: ends})
	if want := (Hold{Kind: Pause, Scope: shop, Reason: "two", Since: first.Since, Expires: ends}); second != want {
		t.Errorf("updated to %+v, want %+v", second, want)
	}
	third := mustPut(t, store, Hold{Kind: Restore, Scope: shop, Expires: began.Add(time.Minute + time.Second)})
	if all := store.table.Load().All(); !cmp.Equal(all, []Hold{third, second}) {
		t.Errorf("in effect: %+v", all)
	}
	localcluster.Eventually(t, "the restore to expire", func() error {
		clock.Step(time.Second)
		if all := store.table.Load().All(); !cmp.Equal(all, []Hold{second}) {
			return fmt.Errorf("holds %v", all)
		}
		return nil
	})
}

func released(t *testing.T, s *stored) {
	s.write(t, nil)
	store := s.run(t)
	for _, scope := range []Scope{cluster, web, bank} {
		mustPut(t, store, Hold{Kind: Restore, Scope: scope})
	}
	before := s.read(t)
	var covered *CoveredError
	if got, err := store.Release(t.Context(), Ending{Scope: shop}); !errors.As(err, &covered) || covered.By.Scope != cluster || len(got.Holds) > 0 {
		t.Errorf("released %v, %v", got, err)
	}
	if diff := cmp.Diff(before, s.read(t)); diff != "" {
		t.Error("a refused release changed the holds", diff)
	}
	got, err := store.Release(t.Context(), Ending{Scope: cluster})
	if diff := cmp.Diff([]Scope{cluster}, scopes(got.Holds)); diff != "" || got.Nested != 2 || err != nil {
		t.Error(diff, got.Nested, err)
	}
	await(t, store, bank, web)
	got, err = store.Release(t.Context(), Ending{Scope: cluster, Nested: true})
	if diff := cmp.Diff([]Scope{bank, web}, scopes(got.Holds)); diff != "" || got.Nested != 0 || err != nil {
		t.Error(diff, got.Nested, err)
	}
	await(t, store)
	if got, err := store.Release(t.Context(), Ending{Scope: cluster}); err != nil || len(got.Holds) > 0 {
		t.Errorf("a second time: %v, %v", got, err)
	}
}

func checked(t *testing.T, s *stored) {
	s.write(t, pauseOf("shop"))
	store := s.run(t)
	await(t, store, shop)
	if h, err := store.CheckPut(t.Context(), Hold{Kind: Pause, Scope: bank}); err != nil || h.Scope != bank || h.Since.IsZero() {
		t.Errorf("put: %v, %v", h, err)
	}
	if ended, err := store.CheckRelease(t.Context(), Ending{Scope: shop}); err != nil || !cmp.Equal(scopes(ended.Holds), []Scope{shop}) {
		t.Errorf("release: %v, %v", ended, err)
	}
	await(t, store, shop)
	s.write(t, map[string]string{"pause.cluster": "all"})
	awaitErr(t, store, "pause.cluster")
	var content *ContentError
	if _, err := store.CheckPut(t.Context(), Hold{Kind: Pause, Scope: bank}); !errors.As(err, &content) {
		t.Errorf("put over invalid content: %v", err)
	}
	if _, err := store.CheckRelease(t.Context(), Ending{Scope: shop}); !errors.As(err, &content) {
		t.Errorf("release from invalid content: %v", err)
	}
}

func missing(t *testing.T, s *stored) {
	store := s.run(t)
	await(t, store)
	var absent *MissingError
	if _, err := store.Put(t.Context(), Hold{Kind: Pause, Scope: shop}); !errors.As(err, &absent) || !strings.Contains(err.Error(), "apply your manifests") {
		t.Errorf("put: %v", err)
	}
	if got, err := store.Release(t.Context(), Ending{Scope: shop}); err != nil || len(got.Holds) > 0 {
		t.Errorf("release: %v, %v", got, err)
	}
	s.write(t, pauseOf("shop"))
	await(t, store, shop)
}

func deleted(t *testing.T, s *stored) {
	s.write(t, pauseOf("shop"))
	store := s.run(t)
	await(t, store, shop)
	s.remove(t)
	awaitErr(t, store, "ConfigMap "+s.namespace.Name+"/"+s.name+", which stores the holds, does not exist; the 1 last known remain in effect")
	if table, err := store.Ready(); err != nil || !cmp.Equal(scopes(table.All()), []Scope{shop}) {
		t.Errorf("in effect: %v, %v", table.All(), err)
	}
	var absent *MissingError
	if _, err := store.Release(t.Context(), Ending{Scope: shop}); !errors.As(err, &absent) {
		t.Errorf("release: %v", err)
	}
	await(t, s.run(t)) // A server that starts now has no holds.
	s.write(t, nil)
	await(t, store)
	mustPut(t, store, Hold{Kind: Pause, Scope: bank})
	await(t, store, bank)
}

func caughtUp(t *testing.T, s *stored) {
	s.write(t, pauseOf("shop"))
	store := New(s.client, s.namespace.Name, s.name) // It does not watch the holds.
	store.freeze.take(t.Context(), nil, follow.ErrMissing)
	if ended, err := store.Release(t.Context(), Ending{Scope: bank}); err != nil || len(ended.Holds) > 0 {
		t.Errorf("release: %v, %v", ended, err)
	}
	await(t, store, shop)
}

func refused(t *testing.T, s *stored) {
	s.write(t, nil)
	asNobody := s.namespace.Config()
	asNobody.Impersonate.UserName = "nobody"
	store := New(kubernetes.NewForConfigOrDie(asNobody), s.namespace.Name, s.name)
	var refusal *RefusedError
	if _, err := store.Put(t.Context(), Hold{Kind: Pause, Scope: shop}); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "permissions of deploy/base") {
		t.Errorf("put: %v", err)
	}
}

func broken(t *testing.T, s *stored) {
	s.write(t, pauseOf("shop"))
	rejected := make(chan error, 10)
	store := s.run(t, OnReject(func(_ *corev1.ConfigMap, err error) { rejected <- err }))
	await(t, store, shop)
	s.write(t, map[string]string{"pause.cluster": "kind: Pause"})
	awaitErr(t, store, "ConfigMap "+s.namespace.Name+"/"+s.name+": pause.cluster: namespace: must set either")
	if table, err := store.Ready(); err != nil || !cmp.Equal(scopes(table.All()), []Scope{shop}) {
		t.Errorf("in effect: %v, %v", table.All(), err)
	}
	var content *ContentError
	if _, err := store.Put(t.Context(), Hold{Kind: Pause, Scope: bank}); !errors.As(err, &content) {
		t.Errorf("put: %v", err)
	}
	if got := s.read(t)["pause.cluster"]; got != "kind: Pause" {
		t.Errorf("overwritten by %q", got)
	}
	if err := <-rejected; !strings.Contains(err.Error(), "pause.cluster: namespace: must set either") {
		t.Errorf("rejected with %v", err)
	}
	s.write(t, pauseOf("bank"))
	await(t, store, bank)
}

func brokenFromTheStart(t *testing.T, s *stored) {
	store := New(s.client, s.namespace.Name, s.name)
	if _, err := store.Ready(); err == nil || err.Error() != "holds are not read yet\nthe freeze (ConfigMap "+s.namespace.Name+"/"+contract.DefaultNames.Freeze+") is not read yet" {
		t.Errorf("before it runs: %v", err)
	}
	s.write(t, map[string]string{"pause.cluster": "all"})
	store = s.run(t)
	awaitErr(t, store, "ConfigMap "+s.namespace.Name+"/"+s.name)
	if table, err := store.Ready(); err == nil || table != nil {
		t.Errorf("ready with %v", table.All())
	}
}

func expires(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	store := s.run(t, WithClock(clock))
	await(t, store)
	mustPut(t, store, Hold{Kind: Pause, Scope: bank})
	mustPut(t, store, Hold{Kind: Pause, Scope: shop, Expires: began.Add(time.Hour)})
	await(t, store, bank, shop)
	clock.Step(time.Hour - time.Second)
	await(t, store, bank, shop)
	// More than one step, because a timer that is set only now starts from now.
	localcluster.Eventually(t, "the hold to expire", func() error {
		clock.Step(time.Hour)
		if all := scopes(store.table.Load().All()); !cmp.Equal(all, []Scope{bank}) {
			return fmt.Errorf("holds %v", all)
		}
		return nil
	})
	if data := s.read(t); data["pause.namespace.shop"] == "" {
		t.Errorf("a replica wrote on its own initiative: %v", data)
	}
	mustPut(t, store, Hold{Kind: Pause, Scope: cluster})
	if data := s.read(t); data["pause.namespace.shop"] != "" {
		t.Errorf("the next write kept it: %v", data)
	}
	if _, err := store.Put(t.Context(), Hold{Kind: Pause, Scope: shop, Expires: began}); err == nil {
		t.Error("an expired hold is accepted")
	}
}

func prunes(t *testing.T, s *stored) {
	s.write(t, nil)
	clock := testingclock.NewFakeClock(began)
	store := s.run(t, WithClock(clock))
	await(t, store)
	pod := func(name string) Scope { return Scope{Namespace: "shop", Pod: name, UID: types.UID(name)} }
	for _, scope := range []Scope{cluster, bank, pod("gone"), pod("there")} {
		mustPut(t, store, Hold{Kind: Pause, Scope: scope})
	}
	clock.Step(pruneAge + time.Second)
	mustPut(t, store, Hold{Kind: Pause, Scope: pod("new")})
	if err := store.Prune(t.Context(), func(s Scope) bool { return s == pod("there") }); err != nil {
		t.Fatal(err)
	}
	await(t, store, cluster, bank, pod("new"), pod("there"))
	before := s.read(t)
	if err := store.Prune(t.Context(), func(Scope) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, s.read(t)); diff != "" {
		t.Error(diff)
	}
	// Breakers of what has no pods end after a week.
	for _, scope := range []Scope{cluster, bank, shop, webs} {
		if _, err := store.Open(t.Context(), scope, "3 of the last 5", clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	prune := func() {
		t.Helper()
		if err := store.Prune(t.Context(), func(s Scope) bool { return s != webs && s != shop }); err != nil {
			t.Fatal(err)
		}
	}
	clock.Step(ResetKept - time.Second)
	prune()
	breaks(t, store, webs, true, time.Time{})
	clock.Step(2 * time.Second)
	prune()
	breaks(t, store, webs, false, clock.Now())
	breaks(t, store, shop, false, clock.Now())
	breaks(t, store, bank, true, time.Time{})
	breaks(t, store, cluster, true, time.Time{})
}

func readOnly(t *testing.T, s *stored) {
	s.write(t, pauseOf("shop"))
	store := s.run(t, ReadOnly())
	await(t, store, shop)
	if _, err := store.Put(t.Context(), Hold{Kind: Pause, Scope: bank}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("put: %v", err)
	}
	if _, err := store.Release(t.Context(), Ending{Scope: shop}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("release: %v", err)
	}
	if h, err := store.CheckPut(t.Context(), Hold{Kind: Pause, Scope: bank}); err != nil || h.Scope != bank {
		t.Errorf("check put: %v, %v", h, err)
	}
	if ended, err := store.CheckRelease(t.Context(), Ending{Scope: shop}); err != nil || len(ended.Holds) != 1 {
		t.Errorf("check release: %v, %v", ended, err)
	}
	await(t, store, shop)
}
