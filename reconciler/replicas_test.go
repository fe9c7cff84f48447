package reconciler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/statuswriter"
)

const (
	replicaPods    = 20
	replicaWorkers = 4
	// leaseDuration is longer than a busy machine stalls: a leader that lives must not lose its Lease.
	leaseDuration = 10 * time.Second
)

// perNode is how many pods fit on a node.
const perNode = 50

// newReplicas returns a cluster with replicaPods pods on one node, and no replicas yet.
func newReplicas(t *testing.T) *replicas {
	t.Helper()
	return newReplicasOf(t, replicaPods)
}

// newReplicasOf returns a cluster with this many pods, and no replicas yet.
func newReplicasOf(t *testing.T, pods int) *replicas {
	t.Helper()
	config := localcluster.ForTest(t, "").Config()
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	s := &replicas{
		apiServer: &apiServer{client: client, dynamic: dynamic.NewForConfigOrDie(config)}, config: config,
		pods: pods, source: ratiotest.NewMemory("memory", performance(1.25)), sizes: followSizes(t, client),
	}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "holds"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	statuswriter.Start(t, config, statuswriter.Options{})
	var n *corev1.Node
	for i := range pods {
		if i%perNode == 0 {
			n = s.node(t, fmt.Sprintf("replicas-%d", i/perNode))
		}
		s.create(t, n, fmt.Sprintf("pod-%d", i))
	}
	return s
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	s := newReplicas(t)
	s.create(t, s.strangeNode(t), strange)

	a := s.start(t, "a")
	a.awaitLead(t)
	b := s.start(t, "b")
	t.Run("both replicas plan, and only the leader writes", func(t *testing.T) {
		s.awaitSizes(t, "80m")
		localcluster.Eventually(t, "both to have the same status", func() error {
			ours, theirs := a.Status(), b.Status()
			want := []loop.PodCount{{Decision: plan.Align, Reason: contract.AlreadyAligned, Pods: replicaPods}, {Decision: plan.Skip, Reason: contract.UnknownNodeType, Pods: 1}}
			if !slices.Equal(ours.Pods, want) || !slices.Equal(theirs.Pods, want) {
				return fmt.Errorf("%v and %v", ours, theirs)
			}
			return nil
		})
		b.silent(t)
		for reason, want := range map[contract.Reason]float64{contract.Resized: replicaPods, contract.UnknownNodeType: 1} {
			if told := outcomes(t, a.registry, reason); told != want {
				t.Errorf("the leader reported %v outcomes of %s, want %v", told, reason, want)
			}
		}
	})

	t.Run("a leader that shuts down gives up its Lease immediately, in the middle of its work", func(t *testing.T) {
		a.limit(5)
		s.source.Set(performance(2))
		a.awaitWrites(t, 3)
		// Writes that wait for their turn would wait forever.
		turns := newGate()
		a.rate.use(turns)
		turns.awaitWaiting(t)
		a.stop()
		if holder := *s.lease(t).HolderIdentity; holder == "a" {
			t.Error("the Lease was not released")
		}
		b.awaitLead(t)
		s.awaitSizes(t, "50m")
	})

	t.Run("a leader that dies is replaced when its Lease expires", func(t *testing.T) {
		c := s.start(t, "c")
		localcluster.Eventually(t, "c to know the pods", func() error {
			if got := c.Status().Pods; len(got) != 2 || got[0].Pods != replicaPods {
				return fmt.Errorf("its status is %v", got)
			}
			return nil
		})
		c.silent(t)
		b.limit(5)
		s.source.Set(performance(1.25))
		b.awaitWrites(t, 3)
		b.cut.Store(true)
		died := s.lease(t)
		c.awaitLead(t)
		followed := s.lease(t)
		if *died.HolderIdentity != "b" || *died.LeaseDurationSeconds != int32(leaseDuration.Seconds()) || *followed.HolderIdentity != "c" {
			t.Errorf("the Lease was %v and is now %v", died, followed)
		}
		// In whole seconds, as client-go sees the time.
		waited := followed.AcquireTime.Sub(died.RenewTime.Truncate(time.Second))
		if waited < leaseDuration {
			t.Errorf("c leads %v after b last renewed the Lease", waited)
		}
		t.Logf("c leads %v after b last renewed the Lease", waited)
		s.awaitSizes(t, "80m")

		b.cut.Store(false) // It was only disconnected: it continues as a follower.
		before := b.podWrites.Load()
		s.source.Set(performance(2))
		s.awaitSizes(t, "50m")
		if wrote := b.podWrites.Load() - before; b.Leads() || wrote != 0 {
			t.Errorf("b leads: %v, and wrote %d times", b.Leads(), wrote)
		}
		c.stop()
		b.awaitLead(t)
	})

	t.Run("a pause stops writes that wait for their turn, and they continue after it", func(t *testing.T) {
		b.limit(10)
		s.source.Set(performance(1.25))
		b.awaitWrites(t, 8)
		turns := newGate()
		b.rate.use(turns)
		turns.awaitWaiting(t)
		before := b.podWrites.Load()
		if _, err := b.holds.Put(t.Context(), hold.Hold{Kind: hold.Pause, Scope: hold.Scope{}}); err != nil {
			t.Fatal(err)
		}
		localcluster.Eventually(t, "the pause to be known", func() error {
			holds, err := b.holds.Ready()
			if err != nil {
				return err
			}
			if h, _ := holds.Of("default", "pod-0", ""); h.Kind != hold.Pause {
				return fmt.Errorf("the hold is %v", h)
			}
			return nil
		})
		close(turns.opened)
		localcluster.Eventually(t, "all pods to be paused", func() error {
			if got := b.Status(); len(got.Pods) != 1 || got.Pods[0].Reason != contract.Paused || got.Queue > 0 {
				return fmt.Errorf("the status is %v", got)
			}
			return nil
		})
		if late := b.podWrites.Load() - before; late != 0 {
			t.Errorf("%d writes began after the pause", late)
		}
		if left := s.sized("50m"); left == 0 || left == replicaPods {
			t.Fatalf("the pause came too early or too late: %d pods not resized", left)
		}
		if _, err := b.holds.Release(t.Context(), hold.Ending{Scope: hold.Scope{}}); err != nil {
			t.Fatal(err)
		}
		s.awaitSizes(t, "80m")
	})

	s.sizes.check(t, []string{"100m", "80m", "50m", "80m", "50m", "80m"})
}
