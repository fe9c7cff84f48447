package resizes

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/changelog"
)

// podWatch is what a test says about the pods that were read.
type podWatch struct {
	unread  atomic.Bool
	version atomic.Uint64
}

func (p *podWatch) history() *history {
	return &history{Log: changelog.New[query.Resized](changelog.Capacity, changelog.Versions), watch: query.ResizeWatch{
		Ready: func() error {
			if p.unread.Load() {
				return errors.New("not read yet")
			}
			return nil
		},
		Version: p.version.Load,
	}}
}

// sized is the change that sizes a pod.
func sized(name string, version uint64) query.ResizeChange {
	return query.ResizeChange{Now: &query.Resized{Pod: types.NamespacedName{Namespace: "shop", Name: name}}, Version: version}
}

// replicaOf returns a history that was complete at a version, with these changes since then.
func replicaOf(t *testing.T, complete uint64, changes ...query.ResizeChange) (*podWatch, *history) {
	t.Helper()
	watch := &podWatch{}
	watch.version.Store(complete)
	h := watch.history()
	if err := h.ready(); err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		watch.version.Store(max(watch.version.Load(), c.Version))
		h.take(c)
	}
	return watch, h
}

// after returns the names of the pods in the events that follow a token.
func after(h *history, token string) (names []string, err error) {
	reader, err := h.Resume("", token)
	for err == nil {
		var e changelog.Event[query.Resized]
		var more <-chan struct{}
		if e, more, err = reader.Next(); more != nil {
			break
		}
		names = append(names, e.Item.Pod.Name)
	}
	return names, err
}

// tokenOf returns the token of a reader that has read everything, after what it has read is
// settled.
func tokenOf(h *history) string {
	h.mu.Lock()
	h.reached.settle()
	h.Update(h.reached.place())
	h.mu.Unlock()
	_, reader := h.Begin("")
	return reader.Token()
}

func TestHistory(t *testing.T) {
	t.Run("another replica continues with what is newer than the token", func(t *testing.T) {
		_, a := replicaOf(t, 5, sized("a", 10), sized("b", 20))
		_, b := replicaOf(t, 5, sized("a", 10), sized("b", 20), sized("c", 30))
		got, err := after(b, tokenOf(a))
		// The event at the place of the token is sent again, because others could have the same version.
		if err != nil || len(got) != 2 || got[0] != "b" || got[1] != "c" {
			t.Errorf("continues with %v, %v", got, err)
		}
	})
	t.Run("a replica that has read the pods later than the token cannot continue", func(t *testing.T) {
		_, a := replicaOf(t, 5, sized("a", 10))
		_, b := replicaOf(t, 15, sized("b", 20))
		if _, err := after(b, tokenOf(a)); !errors.Is(err, changelog.ErrExpired) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a new list of the pods can hide deletions, so older tokens expire", func(t *testing.T) {
		_, a := replicaOf(t, 5, sized("a", 10))
		old := tokenOf(a)
		watch, b := replicaOf(t, 5, sized("a", 10), sized("b", 40))
		if _, err := after(b, old); err != nil {
			t.Errorf("before the list: %v", err)
		}
		watch.version.Store(50)
		b.take(sized("c", 30))
		if _, err := after(b, old); !errors.Is(err, changelog.ErrExpired) {
			t.Errorf("after the list: %v", err)
		}
	})
	t.Run("without changes, tokens follow the pods, so that newer replicas can continue", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			watch, a := replicaOf(t, 5, sized("a", 10))
			_, b := replicaOf(t, 15)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go a.run(ctx)
			_, reader := a.Begin("")
			watch.version.Store(20)
			for _, tc := range []struct {
				name    string
				elapsed time.Duration
				want    error
			}{
				{"before they are settled", settleFor - 2*passAgain, changelog.ErrExpired},
				{"later", settleFor, nil},
			} {
				time.Sleep(tc.elapsed)
				synctest.Wait()
				if _, more, err := reader.Next(); more == nil || err != nil {
					t.Errorf("%s: an event, or %v", tc.name, err)
				}
				if got, err := after(b, reader.Token()); !errors.Is(err, tc.want) || len(got) != 0 {
					t.Errorf("%s: continues with %v, %v, want %v", tc.name, got, err, tc.want)
				}
			}
		})
	})
	t.Run("is complete as soon as the pods were read, even if nobody watches", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			watch := &podWatch{}
			watch.unread.Store(true)
			b := watch.history()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go b.run(ctx)
			time.Sleep(time.Minute)
			if err := b.ready(); err == nil {
				t.Error("ready before the pods were read")
			}
			watch.version.Store(5)
			watch.unread.Store(false)
			time.Sleep(readyAgain)
			synctest.Wait()
			_, a := replicaOf(t, 5, sized("a", 10))
			watch.version.Store(10)
			b.take(sized("a", 10))
			if got, err := after(b, tokenOf(a)); err != nil || len(got) != 1 {
				t.Errorf("continues with %v, %v", got, err)
			}
		})
	})
}
