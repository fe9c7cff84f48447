package demand

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
)

// replica is a fixture whose keeper runs.
type replica struct {
	*fixture
	stop func()
}

// newReplica returns a replica that keeps its state in a namespace of a real API server, but does
// nothing else by itself.
func newReplica(t *testing.T, namespace *localcluster.Namespace, leads bool) *replica {
	return runReplica(t, namespace, leads, func(ctx context.Context, f *fixture) {
		f.Keeper.Run(ctx, f.store, func() bool { return f.leads })
	})
}

// runReplica is like newReplica, but the replica does what run does.
func runReplica(t *testing.T, namespace *localcluster.Namespace, leads bool, run func(context.Context, *fixture)) *replica {
	t.Helper()
	f := newFixture(t, clustertest.Published())
	f.leads = leads
	f.Keeper = checkpoint.New(checkpoint.Config{
		Client: kubernetes.NewForConfigOrDie(namespace.Config()).CoreV1(), Namespace: namespace.Name, Prefix: "usage-",
		Labels: map[string]string{"app.kubernetes.io/name": "workload-resizer"}, FieldManager: "workload-resizer",
		Interval: time.Second, Clock: clock.RealClock{},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx, f)
	}()
	r := &replica{fixture: f, stop: func() { cancel(); <-ended }}
	t.Cleanup(r.stop)
	return r
}

// awaits waits until a replica needs what another one does.
func (r *replica) awaits(t *testing.T, want *usage.Table) {
	t.Helper()
	key := usage.Key{Container: app}
	target, known := want.Demand(key)
	if !known {
		t.Fatal("nothing to wait for")
	}
	localcluster.Eventually(t, "the state of the leader", func() error {
		r.publish(t.Context())
		if got, _ := r.Table().Demand(key); got.Target != target.Target {
			return fmt.Errorf("%+v, want %+v", got.Target, target.Target)
		}
		return nil
	})
}

func TestReplicas(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	first := newReplica(t, namespace, true)
	localcluster.Eventually(t, "the first leader to know that nothing is stored", func() error {
		if !first.Collects() {
			return fmt.Errorf("%+v", first.Keeper.Status())
		}
		return nil
	})
	first.round(t)
	follower := newReplica(t, namespace, false)
	follower.awaits(t, first.Table())
	showsWhatItReads(t, namespace, first.Table())
	first.stop()

	second := newReplica(t, namespace, true)
	localcluster.Eventually(t, "the new leader to know what is stored", func() error {
		if !second.Collects() {
			return fmt.Errorf("%+v", second.Keeper.Status())
		}
		return nil
	})
	second.awaits(t, first.Table())
	read := second.Sources()[0].Read
	if !read.Equal(first.Sources()[0].Read) {
		t.Errorf("the new leader continues at %v, the first one was at %v", read, first.Sources()[0].Read)
	}
	second.round(t)
	if s := second.Sources()[0]; s.Rejected != 0 || s.Counted > 4 {
		t.Errorf("counted again: %+v", s)
	}
	if before, after := first.target(t, ""), second.target(t, ""); before != after {
		t.Errorf("%+v, before the new leader %+v", after, before)
	}
}

// showsWhatItReads checks that a new replica shows what is stored once it has read that: the clock with
// which it publishes stands still.
func showsWhatItReads(t *testing.T, namespace *localcluster.Namespace, want *usage.Table) {
	t.Helper()
	r := runReplica(t, namespace, false, func(ctx context.Context, f *fixture) { f.Run(ctx) })
	defer r.stop()
	localcluster.Eventually(t, "recommendations of a new replica", func() error {
		if got := r.Table().Len(); got != want.Len() {
			return fmt.Errorf("%d, want %d", got, want.Len())
		}
		return nil
	})
}
