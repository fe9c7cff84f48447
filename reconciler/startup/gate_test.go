package startup

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// yard has one node, and records when its taint is removed. Tests that the API server decides are
// in deploy and test/e2e.
type yard struct {
	corev1client.NodeInterface
	mu      sync.Mutex
	began   time.Time
	node    *corev1.Node
	refuse  []error
	tries   int
	removed []time.Duration
	log     string
}

func (y *yard) Patch(_ context.Context, name string, _ types.PatchType, _ []byte, _ metav1.PatchOptions, _ ...string) (*corev1.Node, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.tries++
	if len(y.refuse) > 0 {
		err := y.refuse[0]
		y.refuse = y.refuse[1:]
		return nil, err
	}
	y.removed = append(y.removed, time.Since(y.began))
	y.node = y.node.DeepCopy()
	y.node.Spec.Taints = nil
	return y.node, nil
}

func (y *yard) get(string) *corev1.Node {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.node
}

// ready sets the condition of the node, and when it changed by the clock of the node.
func (y *yard) ready(status corev1.ConditionStatus, since time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.node = y.node.DeepCopy()
	y.node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.NewTime(since)}}
}

// open runs a gate for a node with the startup taint, which act reports to it, for two minutes.
func open(t *testing.T, leads bool, act func(y *yard, g *Gate)) *yard {
	y := &yard{}
	synctest.Test(t, func(t *testing.T) {
		y.began = time.Now()
		y.node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n4-0", UID: "1"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: contract.StartupTaint, Effect: corev1.TaintEffectNoSchedule}}}}
		g := New(Config{Nodes: y, Node: y.get, Leads: func() bool { return leads }, Clock: clock.RealClock{}})
		logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true)))
		defer func() { y.log = logger.GetSink().(ktesting.Underlier).GetBuffer().String() }()
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logger), 2*time.Minute)
		defer cancel()
		go func() {
			act(y, g)
			g.Changed("n4-0")
		}()
		g.Run(ctx)
	})
	return y
}

// replace puts a new node without conditions in the place of the node, as if it was deleted and
// created again while the watch of the nodes was interrupted.
func (y *yard) replace(uid types.UID) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.node = y.node.DeepCopy()
	y.node.UID, y.node.Status = uid, corev1.NodeStatus{}
}

func (y *yard) expect(t *testing.T, least, most time.Duration) {
	t.Helper()
	if len(y.removed) != 1 || y.removed[0] < least || y.removed[0] > most {
		t.Errorf("removed after %v, want once from %v to %v", y.removed, least, most)
	}
}

func TestGate(t *testing.T) {
	ready := func(y *yard, _ *Gate) { y.ready(corev1.ConditionTrue, time.Now()) }
	t.Run("removes the taint 30 seconds after the node is ready", func(t *testing.T) {
		open(t, true, ready).expect(t, Patience, 30*time.Second)
	})
	t.Run("does not wait for a leader", func(t *testing.T) {
		open(t, false, ready).expect(t, Patience+grace, 33*time.Second)
	})
	t.Run("removes the taint of a measured node immediately", func(t *testing.T) {
		open(t, false, func(y *yard, g *Gate) {
			ready(y, g)
			g.Changed("n4-0")
			time.Sleep(9 * time.Second)
			g.Release("n4-0")
		}).expect(t, 9*time.Second, 9*time.Second)
	})
	t.Run("counts from when the node is ready, and again if it was not", func(t *testing.T) {
		open(t, true, func(y *yard, g *Gate) {
			ready(y, g)
			g.Changed("n4-0")
			time.Sleep(5 * time.Second)
			y.ready(corev1.ConditionFalse, time.Now())
			g.Changed("n4-0")
			time.Sleep(5 * time.Second)
			ready(y, g)
		}).expect(t, 10*time.Second+Patience, 40*time.Second)
	})
	t.Run("never removes the taint of a node that is not ready", func(t *testing.T) {
		y := open(t, true, func(y *yard, g *Gate) {
			y.ready(corev1.ConditionFalse, time.Now())
			g.Release("n4-0")
		})
		if y.tries > 0 {
			t.Errorf("tried %d times", y.tries)
		}
	})
	t.Run("is not delayed by the clock of a node that is ahead", func(t *testing.T) {
		open(t, true, func(y *yard, _ *Gate) { y.ready(corev1.ConditionTrue, time.Now().Add(time.Hour)) }).expect(t, Patience, 30*time.Second)
	})
	t.Run("is not misled by the clock of a node that is behind", func(t *testing.T) {
		open(t, true, func(y *yard, g *Gate) {
			y.ready(corev1.ConditionFalse, time.Now())
			g.Changed("n4-0")
			time.Sleep(5 * time.Second)
			y.ready(corev1.ConditionTrue, time.Now().Add(-Patience))
		}).expect(t, 5*time.Second+Patience, 35*time.Second)
	})
	t.Run("counts from the creation of a node at the earliest, even after a restart", func(t *testing.T) {
		open(t, true, func(y *yard, _ *Gate) {
			y.node.CreationTimestamp = metav1.Now()
			y.ready(corev1.ConditionTrue, time.Now().Add(-time.Hour))
		}).expect(t, Patience, 30*time.Second)
	})
	t.Run("removes the taint immediately after a restart", func(t *testing.T) {
		open(t, true, func(y *yard, _ *Gate) { y.ready(corev1.ConditionTrue, time.Now().Add(-time.Minute)) }).expect(t, 0, time.Second)
	})
	t.Run("gives a new node with the name of a deleted one its own time", func(t *testing.T) {
		open(t, true, func(y *yard, g *Gate) {
			ready(y, g)
			g.Changed("n4-0")
			time.Sleep(9 * time.Second)
			y.replace("2")
			ready(y, g)
		}).expect(t, 9*time.Second+Patience, 39*time.Second)
	})
	t.Run("forgets that a deleted node was measured", func(t *testing.T) {
		open(t, true, func(y *yard, g *Gate) {
			y.ready(corev1.ConditionFalse, time.Now())
			g.Changed("n4-0")
			time.Sleep(time.Second)
			g.Release("n4-0")
			time.Sleep(time.Second)
			y.replace("2")
			ready(y, g)
		}).expect(t, 2*time.Second+Patience, 32*time.Second)
	})
	t.Run("tries again within two seconds", func(t *testing.T) {
		conflict := apierrors.NewInvalid(schema.GroupKind{Kind: "Node"}, "n4-0", nil)
		y := open(t, true, func(y *yard, g *Gate) {
			ready(y, g)
			y.refuse = []error{errors.New("away"), conflict, conflict}
		})
		y.expect(t, Patience, 30*time.Second)
		if y.tries != 4 {
			t.Errorf("tried %d times", y.tries)
		}
	})
	t.Run("logs once that it lacks the right", func(t *testing.T) {
		y := open(t, true, func(y *yard, g *Gate) {
			ready(y, g)
			y.refuse = []error{apierrors.NewInvalid(schema.GroupKind{Kind: "Node"}, "n4-0", nil)}
			for range 9 {
				y.refuse = append(y.refuse, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n4-0", nil))
			}
		})
		if got := strings.Count(y.log, "ERROR Startup taint not removed; trying again"); got != 1 {
			t.Errorf("logged %d times:\n%s", got, y.log)
		}
	})
	t.Run("counts a node that keeps its taint for more than 35 seconds", func(t *testing.T) {
		open(t, true, func(y *yard, g *Gate) {
			for range 12 {
				y.refuse = append(y.refuse, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n4-0", nil))
			}
			ready(y, g)
			g.Changed("n4-0")
			for _, tc := range []struct {
				after time.Duration
				want  int
			}{{overdueAfter, 0}, {overdueAfter + time.Second, 1}, {time.Minute, 0}} {
				time.Sleep(time.Until(y.began.Add(tc.after)))
				if got := g.overdue(); got != tc.want {
					t.Errorf("%v after the node is ready: %d are overdue, want %d", tc.after, got, tc.want)
				}
			}
		})
	})
	t.Run("tells until when pods are kept out", func(t *testing.T) {
		open(t, true, func(y *yard, g *Gate) {
			if got := g.Until("n4-0"); !got.Equal(y.began.Add(Patience)) {
				t.Errorf("before the node is ready: %v", got)
			}
			ready(y, g)
			g.Changed("n4-0")
			time.Sleep(8 * time.Second)
			if got := g.Until("n4-0"); !got.Equal(y.began.Add(Patience)) {
				t.Errorf("8 seconds after the node is ready: %v", got)
			}
			time.Sleep(time.Minute)
			if got := g.Until("n4-0"); !got.IsZero() {
				t.Errorf("without the taint: %v", got)
			}
		})
	})
	t.Run("none keeps nothing out", func(t *testing.T) {
		var none *Gate
		none.Release("n4-0")
		if got := none.overdue(); got != 0 {
			t.Errorf("%d are overdue", got)
		}
		if got := none.Until("n4-0"); !got.IsZero() {
			t.Errorf("got %v", got)
		}
	})
}
