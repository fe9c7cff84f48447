package hold

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/docpage"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestFreezeText(t *testing.T) {
	made := metav1.NewTime(began)
	for _, tc := range []struct {
		name   string
		data   map[string]string
		binary map[string][]byte
		want   *Freeze
	}{
		{"true is frozen", map[string]string{"frozen": "true"}, nil, &Freeze{Since: began}},
		{"an unknown value is frozen", map[string]string{"frozen": "maybe"}, nil, &Freeze{Since: began}},
		{"a spelling of false is an unknown value", map[string]string{"frozen": "False"}, nil, &Freeze{Since: began}},
		{"so is a space", map[string]string{"frozen": " "}, nil, &Freeze{Since: began}},
		{"binary content is frozen", nil, map[string][]byte{"frozen": {0xff}}, &Freeze{Since: began}},
		{"false is not frozen", map[string]string{"frozen": "false", "reason": "why"}, nil, nil},
		{"an empty value is frozen", map[string]string{"frozen": ""}, nil, &Freeze{Since: began}},
		{"no key is frozen", map[string]string{"reason": "why"}, nil, &Freeze{Reason: "why", Since: began}},
		{"who, when and why are shown", map[string]string{"frozen": "true", "reason": "why", "author": "ann", "since": "2026-11-21T02:02:03Z"}, nil, &Freeze{Reason: "why", Author: "ann", Since: ends}},
		{"an unreadable time and text do not matter", map[string]string{"frozen": "true", "reason": "a\nb", "author": strings.Repeat("a", 513), "since": "today"}, nil, &Freeze{Reason: notShown, Author: notShown, Since: began}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := freezeIn(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: made}, Data: tc.data, BinaryData: tc.binary})
			if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestFreezeFollower(t *testing.T) {
	f := newFreezeFollower(follow.ConfigMap{Namespace: "shop", Name: contract.DefaultNames.Freeze}, testingclock.NewFakePassiveClock(began), func() {})
	if _, err := f.state(); err == nil || !strings.Contains(err.Error(), "is not read yet") {
		t.Errorf("before it is read: %v", err)
	}
	lost := errors.New("forbidden")
	f.take(t.Context(), nil, lost)
	if _, err := f.state(); !errors.Is(err, lost) {
		t.Errorf("unreadable from the start: %v", err)
	}
	f.take(t.Context(), nil, follow.ErrMissing)
	if now, err := f.state(); now != nil || err != nil {
		t.Errorf("missing: %v, %v", now, err)
	}
	f.take(t.Context(), nil, lost)
	if now, err := f.state(); now == nil || err != nil || !strings.Contains(now.Reason, "can no longer read") || !errors.Is(f.problem(), lost) {
		t.Errorf("no longer readable: %+v, %v", now, err)
	}
	f.take(t.Context(), nil, follow.ErrMissing)
	if now, _ := f.state(); now != nil || f.problem() != nil {
		t.Errorf("missing again: %+v, %v", now, f.problem())
	}
}

// The tests of the freeze have a namespace each: its ConfigMap has the same name in all.
func TestFreeze(t *testing.T) {
	for _, tc := range []struct {
		name string
		test func(*testing.T, *stored)
	}{
		{"is in effect immediately where it was set, and within a second on every replica", freezes},
		{"kubectl sets and ends it", freezesByHand},
		{"works while the holds are full, invalid or missing", freezesWithoutHolds},
		{"needs no more rights than those to its ConfigMap", freezesDeployed},
		{"says how to freeze without the server", saysHowToFreeze},
	} {
		t.Run(tc.name, func(t *testing.T) {
			namespace := localcluster.NamespaceForTest(t)
			tc.test(t, &stored{namespace, kubernetes.NewForConfigOrDie(namespace.Config()), contract.DefaultNames.Holds})
		})
	}
}

// awaitFrozen waits until the store is frozen, or is not.
func awaitFrozen(t *testing.T, s *Store, want bool) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("frozen: %v", want), func() error {
		table, err := s.Ready()
		if err != nil {
			return err
		}
		if got := table.Freeze(); (got != nil) != want {
			return fmt.Errorf("the freeze is %+v", got)
		}
		return nil
	})
}

func freezes(t *testing.T, s *stored) {
	s.write(t, nil)
	a, b := s.run(t), s.run(t)
	awaitFrozen(t, a, false)
	awaitFrozen(t, b, false)
	first, err := a.Freeze(t.Context(), Freeze{Reason: "why", Author: "ann"})
	if err != nil || first.Reason != "why" || first.Author != "ann" || first.Since.IsZero() {
		t.Fatalf("%+v, %v", first, err)
	}
	if now := a.table.Load().Freeze(); now == nil || *now != first {
		t.Errorf("not in effect where it was set: %+v", now)
	}
	changes, late := b.Watch(), time.After(time.Second)
	for b.table.Load().Freeze() == nil {
		select {
		case <-changes:
		case <-late:
			t.Fatal("another replica is not frozen after a second")
		}
	}
	again, err := b.Freeze(t.Context(), Freeze{Reason: "another reason", Author: "bob"})
	if err != nil || again.Since != first.Since || again.Author != "bob" {
		t.Errorf("again: %+v, %v", again, err)
	}
	mustPut(t, a, Hold{Kind: Restore, Scope: shop})
	if table := a.table.Load(); table.Freeze() == nil || len(table.All()) != 1 {
		t.Errorf("after a hold: %+v", table)
	}
	ended, err := a.Unfreeze(t.Context())
	if err != nil || ended == nil || a.table.Load().Freeze() != nil {
		t.Errorf("unfrozen: %+v, %v", ended, err)
	}
	awaitFrozen(t, b, false)
	await(t, b, shop)
	if ended, err := a.Unfreeze(t.Context()); err != nil || ended != nil {
		t.Errorf("a second time: %+v, %v", ended, err)
	}
	if _, err := s.run(t, ReadOnly()).Freeze(t.Context(), Freeze{}); !errors.Is(err, ErrFreezeReadOnly) {
		t.Errorf("read-only: %v", err)
	}
	if _, err := a.Freeze(t.Context(), Freeze{Reason: "a\nb", Author: ""}); err == nil {
		t.Error("a reason of two lines is accepted")
	}
}

func TestFreezeCommand(t *testing.T) {
	const page = "docs/tasks/freeze.md"
	documented := docpage.Read(t, page)
	for _, command := range []string{FreezeCommand(deploy.Namespace, contract.DefaultNames.Freeze), UnfreezeCommand(deploy.Namespace, contract.DefaultNames.Freeze)} {
		if !strings.Contains(documented, "\n    "+command+"\n") {
			t.Errorf("%s does not have the line\n%s", page, command)
		}
	}
}

// The documented commands work in every state of the ConfigMap, and again.
func freezesByHand(t *testing.T, s *stored) {
	s.write(t, nil)
	store := s.run(t)
	awaitFrozen(t, store, false)
	freezeBy := func(f Freeze) {
		t.Helper()
		if _, err := store.Freeze(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	freeze, unfreeze := FreezeCommand(s.namespace.Name, contract.DefaultNames.Freeze), UnfreezeCommand(s.namespace.Name, contract.DefaultNames.Freeze)
	for _, step := range []struct {
		state   string
		prepare func()
		command string
		frozen  bool
	}{
		{"missing", func() {}, freeze, true},
		{"frozen by kubectl", func() {}, freeze, true},
		{"frozen by kubectl", func() {}, unfreeze, false},
		{"missing", func() {}, unfreeze, false},
		{"saying false", func() {
			no := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: contract.DefaultNames.Freeze}, Data: map[string]string{"frozen": "false"}}
			if _, err := s.client.CoreV1().ConfigMaps(s.namespace.Name).Create(t.Context(), no, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			awaitFrozen(t, store, false)
		}, freeze, true},
		{"frozen by the server", func() { freezeBy(Freeze{Reason: "why"}) }, freeze, true},
		{"frozen by both", func() {}, unfreeze, false},
	} {
		step.prepare()
		if out, err := s.namespace.Shell(t.Context(), step.command); err != nil {
			t.Fatalf("%s: %s: %v\n%s", step.state, step.command, err, out)
		}
		awaitFrozen(t, store, step.frozen)
		if f, err := store.Look(t.Context()); err != nil || step.frozen && f.Since.IsZero() {
			t.Errorf("%s: %s: the freeze is %+v, %v", step.state, step.command, f, err)
		}
	}
	freezeBy(Freeze{Reason: "again"})
}

func freezesWithoutHolds(t *testing.T, s *stored) {
	s.write(t, fill(t, fill(t, map[string]string{}, forNarrow, func(n int) Hold { return podOf(fmt.Sprintf("ns-%d", n), n, "ann") }),
		belowCluster-forNarrow, func(n int) Hold { return Hold{Kind: Pause, Scope: Scope{Namespace: fmt.Sprintf("ns-%d", n)}} }))
	store := s.run(t)
	awaitFrozen(t, store, false)
	var full *FullError
	if _, err := store.Put(t.Context(), Hold{Kind: Restore, Scope: shop, Reason: strings.Repeat("a", maxReason)}); !errors.As(err, &full) {
		t.Errorf("not full: %v", err)
	}
	cycle := func(what string) {
		t.Helper()
		if _, err := store.Freeze(t.Context(), Freeze{Reason: what, Author: ""}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := store.Unfreeze(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	cycle("full")
	s.write(t, map[string]string{"holds.yaml": "holds: []"})
	awaitErr(t, store, "holds.yaml: not the key of a hold")
	cycle("invalid")
	s.remove(t)
	awaitErr(t, store, "does not exist")
	cycle("missing")
}

func freezesDeployed(t *testing.T, s *stored) {
	if err := s.namespace.Apply(t.Context(), deploy.Base()...); err != nil {
		t.Fatal(err)
	}
	asServer := s.namespace.Config()
	asServer.Impersonate.UserName = "system:serviceaccount:" + s.namespace.Name + ":" + deploy.ServiceAccount
	client := kubernetes.NewForConfigOrDie(asServer)
	store := running(t, New(client, s.namespace.Name, contract.DefaultNames.Holds))
	awaitFrozen(t, store, false)
	if _, err := store.Freeze(t.Context(), Freeze{}); err != nil {
		t.Fatal(err)
	}
	if err := s.namespace.Apply(t.Context(), deploy.Base()...); err != nil {
		t.Fatal(err)
	}
	if f, err := store.Frozen(); f == nil || err != nil {
		t.Errorf("applying the manifests again ended the freeze: %v", err)
	}
	if _, err := store.Unfreeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	if _, err := client.CoreV1().ConfigMaps(s.namespace.Name).Create(t.Context(), other, metav1.CreateOptions{}); err == nil {
		t.Error("the server may create any ConfigMap")
	}
}

func saysHowToFreeze(t *testing.T, s *stored) {
	asNobody := s.namespace.Config()
	asNobody.Impersonate.UserName = "nobody"
	store := New(kubernetes.NewForConfigOrDie(asNobody), s.namespace.Name, s.name)
	var refusal *RefusedError
	want := FreezeCommand(s.namespace.Name, contract.DefaultNames.Freeze)
	if _, err := store.Freeze(context.Background(), Freeze{}); !errors.As(err, &refusal) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}
