package e2e

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// asDeployed sets the default timing of the leader election, which is what this test
// measures.
var asDeployed = []string{"--leader-lease-duration", "15s", "--log-format", "json"}

// lease is how long a replica waits for a leader that does not release its Lease. A
// handover should take less than two seconds. The test only logs that time, because other
// tests may keep the machine busy.
const lease = 15 * time.Second

// podWrites records when the replicas wrote to pods.
type podWrites struct {
	mu          sync.Mutex
	first, last map[int]time.Time
}

func (w *podWrites) add(replica int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[replica] = time.Now()
	if w.first[replica].IsZero() {
		w.first[replica] = w.last[replica]
	}
}

func (w *podWrites) of(replica int) (first, last time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first[replica], w.last[replica]
}

// candidate is a replica whose writes are recorded.
type candidate struct {
	*server
	number int
	log    *journal
}

func (p *plane) candidate(t *testing.T, number int, writes *podWrites) *candidate {
	t.Helper()
	proxy := localcluster.ProxyForTest(t, p.Config(), func(localcluster.Write) localcluster.Action {
		writes.add(number)
		return localcluster.Forward
	})
	log := &journal{}
	s := localcluster.ServerForTest(t, localcluster.ServerOptions{
		Kubeconfig: p.serviceAccount(t, localcluster.WithServer(proxy.URL, proxy.CA)), Args: append(asDeployed, ownedByConfigMaps...), Log: log,
	})
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	if err := s.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	api, err := client.Dial(s.GRPCAddress)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	return &candidate{&server{Server: s, api: api}, number, log}
}

func TestHandover(t *testing.T) {
	t.Parallel()
	t.Run("a terminated leader hands over", aTerminatedLeaderHandsOver)
}

// aTerminatedLeaderHandsOver terminates leaders while pods are created continuously.
func aTerminatedLeaderHandsOver(t *testing.T) {
	t.Parallel()
	const handovers, podsPerSecond = 10, 25
	p := newPlane(t)
	writes := &podWrites{first: map[int]time.Time{}, last: map[int]time.Time{}}
	leader := p.candidate(t, 0, writes)
	localcluster.Eventually(t, "the first replica to lead", func() error { return leading(t, leader) })

	coming, stop := context.WithCancel(t.Context())
	var created int
	ended := make(chan error, 1)
	go func() {
		every := time.NewTicker(time.Second / podsPerSecond)
		defer every.Stop()
		for coming.Err() == nil {
			if err := p.create(t.Context(), fmt.Sprintf("pod-%d", created), "n4"); err != nil {
				ended <- err
				return
			}
			created++
			<-every.C
		}
		ended <- nil
	}()

	all := []*candidate{leader}
	for i := range handovers {
		next := p.candidate(t, i+1, writes)
		all = append(all, next)
		p.handOver(t, leader, next, writes)
		leader = next
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "all pods to be resized once, by one replica", func() error {
		lines := 0
		for _, c := range all {
			lines += len(c.log.lines(`"msg":"Pod resized"`))
		}
		if lines != created {
			return fmt.Errorf("%d resizes of %d pods", lines, created)
		}
		return nil
	})
	seen := map[string]int{}
	for _, c := range all {
		for _, line := range c.log.lines(`"msg":"Pod resized"`) {
			pod := podOf(t, line)
			if by, twice := seen[pod]; twice {
				t.Errorf("pod %s was resized by replica %d and by replica %d", pod, by, c.number)
			}
			seen[pod] = c.number
		}
	}
}

// handOver terminates the leader.
func (p *plane) handOver(t *testing.T, leader, next *candidate, writes *podWrites) {
	t.Helper()
	nextHolder := p.nextHolder(t)
	asked := time.Now()
	stopped := make(chan error, 1)
	go func() { stopped <- leader.Stop() }()
	ctx, cancel := context.WithTimeout(t.Context(), lease)
	defer cancel()
	// A replica that waits for the Lease to expire takes it from the previous holder.
	// After a release, the Lease first has no holder.
	if holder, err := nextHolder(ctx); err != nil || holder != "" {
		t.Fatalf("%v after SIGTERM, %q has the Lease, which replica %d should have released: %v", time.Since(asked), holder, leader.number, err)
	}
	given := time.Since(asked).Round(time.Millisecond)
	poll := func(ctx context.Context, what string, done func() bool) time.Duration {
		if err := wait.PollUntilContextCancel(ctx, 5*time.Millisecond, true, func(context.Context) (bool, error) { return done(), nil }); err != nil {
			t.Fatalf("%v after SIGTERM, replica %d does not %s: %v", time.Since(asked), next.number, what, err)
		}
		return time.Since(asked).Round(time.Millisecond)
	}
	led := poll(ctx, "lead", func() bool { return leads(t, next.server) })
	// If the previous leader still responds, it must no longer lead.
	if families, err := leader.Metrics(t.Context()); err == nil {
		if value, err := families.Sum("workload_resizer_leading", nil); err != nil || value != 0 {
			t.Errorf("replica %d reports leading %v when replica %d leads (%v)", leader.number, value, next.number, err)
		}
	}
	patient, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	wrote := poll(patient, "write", func() bool { first, _ := writes.of(next.number); return !first.IsZero() })
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	first, _ := writes.of(next.number)
	if _, last := writes.of(leader.number); !last.Before(first) {
		t.Errorf("replica %d wrote %v after the first write of replica %d", leader.number, last.Sub(first), next.number)
	}
	t.Logf("replica %d released the Lease %v after SIGTERM, replica %d led after %v and wrote after %v; the process ended after %v", leader.number, given, next.number, led, wrote, time.Since(asked).Round(time.Millisecond))
}

func leading(t *testing.T, c *candidate) error {
	if !leads(t, c.server) {
		return fmt.Errorf("replica %d does not lead", c.number)
	}
	return nil
}

// nextHolder returns a function that waits until the Lease has another holder than now,
// or none, which is "". It misses no change in between.
func (p *plane) nextHolder(t *testing.T) func(context.Context) (string, error) {
	t.Helper()
	leases := p.client.CoordinationV1().Leases(deploy.Namespace)
	now, err := leases.Get(t.Context(), "workload-resizer", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := leases.Watch(t.Context(), metav1.SingleObject(now.ObjectMeta))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watch.Stop)
	return func(ctx context.Context) (string, error) {
		for {
			select {
			case event := <-watch.ResultChan():
				lease, ok := event.Object.(*coordinationv1.Lease)
				if !ok {
					return "", fmt.Errorf("watch the Lease: %v %v", event.Type, event.Object)
				}
				if holder := *lease.Spec.HolderIdentity; holder != *now.Spec.HolderIdentity {
					return holder, nil
				}
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	}
}
