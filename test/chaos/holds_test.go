package chaos

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// holds are set by tests; reconcilers follow them.
type holds struct {
	mu      sync.Mutex
	now     []hold.Hold
	frozen  *hold.Freeze
	inForce *hold.Table
	watches []chan struct{}
}

func newHolds() *holds { return &holds{inForce: hold.NewTable(nil)} }

// Ready implements reconciler.Holds.
func (h *holds) Ready() (*hold.Table, error) { return h.table(), nil }

func (h *holds) table() *hold.Table {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.inForce
}

// FrozenNow implements reconciler.Holds.
func (h *holds) FrozenNow(context.Context) (bool, error) { return h.table().Freeze() != nil, nil }

// Watch implements reconciler.Holds.
func (h *holds) Watch() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := make(chan struct{}, 1)
	h.watches = append(h.watches, w)
	return w
}

// Prune implements reconciler.Holds. It does nothing: no round lasts long enough for
// holds of deleted pods to be pruned.
func (h *holds) Prune(context.Context, func(hold.Scope) bool) error { return nil }

// Open implements reconciler.Holds. It opens no breaker: the nodes of a round refuse resizes, and no
// pod fares worse.
func (h *holds) Open(context.Context, hold.Scope, string, time.Time) (bool, error) { return false, nil }

// put adds a hold, which replaces the current hold of the scope.
func (h *holds) put(kind hold.Kind, scope hold.Scope) {
	h.change(func(now []hold.Hold) []hold.Hold {
		return append(without(now, scope), hold.Hold{Kind: kind, Scope: scope})
	})
}

// release ends the hold of a scope, if it has one.
func (h *holds) release(scope hold.Scope) {
	h.change(func(now []hold.Hold) []hold.Hold { return without(now, scope) })
}

// freeze freezes the cluster, or ends the freeze.
func (h *holds) freeze(frozen bool) {
	h.change(func(now []hold.Hold) []hold.Hold {
		if h.frozen = nil; frozen {
			h.frozen = &hold.Freeze{Reason: "test"}
		}
		return now
	})
}

// releaseAll ends all holds of a kind.
func (h *holds) releaseAll(kind hold.Kind) {
	h.change(func(now []hold.Hold) []hold.Hold {
		return slices.DeleteFunc(now, func(h hold.Hold) bool { return h.Kind == kind })
	})
}

// of returns the hold in effect for a pod, zero if there is none.
func (h *holds) of(pod *corev1.Pod) hold.Hold {
	var workloads []workload.Workload
	if controller := metav1.GetControllerOf(pod); controller != nil {
		workloads = append(workloads, workload.Workload{Kind: controller.Kind, Name: controller.Name})
	}
	decides, _ := h.table().Of(pod.Namespace, pod.Name, pod.UID, workloads...)
	return decides
}

func without(now []hold.Hold, scope hold.Scope) []hold.Hold {
	return slices.DeleteFunc(now, func(h hold.Hold) bool { return h.Scope == scope })
}

func (h *holds) change(to func([]hold.Hold) []hold.Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = to(h.now)
	h.inForce = hold.NewTable(h.now).Frozen(h.frozen)
	for _, w := range h.watches {
		select {
		case w <- struct{}{}:
		default: // It has not looked at the previous change yet.
		}
	}
}
