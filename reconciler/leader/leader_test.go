package leader

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clientretry "k8s.io/client-go/util/retry"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const lease = MinLeaseDuration

// candidate is a replica whose connection the test can cut.
type candidate struct {
	*Elector
	cut    atomic.Bool
	cancel context.CancelFunc
	ended  chan error
}

var errCut = errors.New("the connection is cut")

// stand starts a replica that can work immediately, and whose work ends once finish is closed.
func stand(t *testing.T, config *rest.Config, namespace, name, identity string, finish <-chan struct{}) *candidate {
	t.Helper()
	return standOnce(t, done, config, namespace, name, identity, finish)
}

// standOnce starts a replica that can work once ready is closed.
func standOnce(t *testing.T, ready <-chan struct{}, config *rest.Config, namespace, name, identity string, finish <-chan struct{}) *candidate {
	t.Helper()
	c := &candidate{ended: make(chan error, 1)}
	config = rest.CopyConfig(config)
	config.Timeout = RequestTimeout(lease)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if c.cut.Load() {
				return nil, errCut
			}
			return next.RoundTrip(r)
		})
	})
	var err error
	c.Elector, err = New(Config{
		Client: kubernetes.NewForConfigOrDie(config).CoordinationV1(), Namespace: namespace, Name: name, Identity: identity,
		LeaseDuration: lease,
	})
	if err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	go func() {
		c.ended <- c.Run(ctx, ready, func(ctx context.Context) error {
			<-ctx.Done()
			<-finish
			return nil
		})
	}()
	t.Cleanup(func() {
		c.cancel()
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// leads waits until a replica leads, and returns how long that took.
func (c *candidate) leads(t *testing.T, what string) time.Duration {
	t.Helper()
	begin := time.Now()
	localcluster.Eventually(t, what, func() error {
		if !c.Leading() {
			return errors.New("it does not lead")
		}
		return nil
	})
	return time.Since(begin)
}

// done is a closed channel, for work that can begin or end immediately.
var done = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func TestElection(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	config := namespace.Config()

	t.Run("one replica leads, and another follows immediately when it shuts down", func(t *testing.T) {
		a := stand(t, config, namespace.Name, "ends", "a", done)
		a.leads(t, "a to lead")
		b := stand(t, config, namespace.Name, "ends", "b", done)
		localcluster.Eventually(t, "b to know of a", func() error {
			if l, known := b.Leader(); !known || l.Identity != "a" || l.Acquired.IsZero() || l.Renewed.Before(l.Acquired) {
				return fmt.Errorf("it sees %v, %v", l, known)
			}
			return nil
		})
		changed := b.Watch()
		if b.Leading() {
			t.Error("b leads, too")
		}
		a.cancel()
		if took := b.leads(t, "b to lead"); took > 2*time.Second {
			t.Errorf("the change took %v", took)
		}
		<-changed
		if a.Leading() {
			t.Error("a still leads")
		}
		if l, known := b.Leader(); !known || l.Identity != "b" {
			t.Errorf("b sees %v, %v", l, known)
		}
	})

	t.Run("no other replica leads before the work of the leader has ended", func(t *testing.T) {
		finish := make(chan struct{})
		a := stand(t, config, namespace.Name, "works", "a", finish)
		a.leads(t, "a to lead")
		b := stand(t, config, namespace.Name, "works", "b", done)
		a.cancel()
		// Longer than the LeaseDuration: the leader still renews the Lease.
		until := time.Now().Add(lease + time.Second)
		localcluster.Eventually(t, "the time to pass", func() error {
			if !a.Leading() || b.Leading() {
				t.Fatalf("a leads: %v, b leads: %v", a.Leading(), b.Leading())
			}
			if time.Now().Before(until) {
				return errors.New("it has not passed")
			}
			return nil
		})
		close(finish)
		b.leads(t, "b to lead")
	})

	t.Run("a disconnected leader stops leading before another leads, and can lead again", func(t *testing.T) {
		a := stand(t, config, namespace.Name, "cut", "a", done)
		a.leads(t, "a to lead")
		b := stand(t, config, namespace.Name, "cut", "b", done)
		changed := a.Watch()
		a.cut.Store(true)
		localcluster.Eventually(t, "b to lead", func() error {
			// In this order, both are true only if both replicas lead at the same time.
			if b.Leading() && a.Leading() {
				t.Fatal("both lead")
			}
			if !b.Leading() {
				return errors.New("it does not lead")
			}
			return nil
		})
		<-changed
		a.cut.Store(false)
		localcluster.Eventually(t, "a to know of b", func() error {
			if l, _ := a.Leader(); l.Identity != "b" || a.Leading() || !b.Leading() {
				return fmt.Errorf("it sees %v", l)
			}
			return nil
		})
		b.cancel()
		a.leads(t, "a to lead again")
		<-changed
	})

	t.Run("a replica that was disconnected does not release another replica's Lease", func(t *testing.T) {
		a := stand(t, config, namespace.Name, "late", "a", done)
		a.leads(t, "a to lead")
		client := kubernetes.NewForConfigOrDie(config).CoordinationV1().Leases(namespace.Name)
		a.cut.Store(true)
		// Requests from before the disconnect may still arrive.
		if err := clientretry.RetryOnConflict(clientretry.DefaultRetry, func() error {
			found, err := client.Get(t.Context(), "late", metav1.GetOptions{})
			if err != nil {
				return err
			}
			other := "b"
			found.Spec.HolderIdentity = &other
			_, err = client.Update(t.Context(), found, metav1.UpdateOptions{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		a.cut.Store(false)
		a.cancel()
		a.ended <- <-a.ended
		if found, err := client.Get(t.Context(), "late", metav1.GetOptions{}); err != nil || *found.Spec.HolderIdentity != "b" {
			t.Errorf("%v, %v", found.Spec, err)
		}
		if a.Leading() {
			t.Error("a leads")
		}
	})

	t.Run("a replica that cannot work yet is not a candidate, and can still end", func(t *testing.T) {
		ready := make(chan struct{})
		first := standOnce(t, ready, config, namespace.Name, "waits", "a", done)
		b := stand(t, config, namespace.Name, "waits", "b", done)
		b.leads(t, "b to lead")
		b.cancel()
		b.ended <- <-b.ended
		never := standOnce(t, nil, config, namespace.Name, "waits", "never", done)
		never.cancel()
		never.ended <- <-never.ended
		if _, known := first.Leader(); known || first.Leading() {
			t.Error("a has read the Lease")
		}
		close(ready)
		first.leads(t, "a to lead")
	})

	t.Run("no replica leads without an API server", func(t *testing.T) {
		a := stand(t, &rest.Config{Host: "https://127.0.0.1:1"}, "default", "nowhere", "a", done)
		if l, known := a.Leader(); known || a.Leading() {
			t.Errorf("leads: %v", l)
		}
	})
}

func TestLeader(t *testing.T) {
	t.Run("a suspended process does not lead when it continues", aSuspendedProcessDoesNotLeadWhenItContinues)
	t.Run("a leader uses the monotonic clock", aLeaderUsesTheMonotonicClock)
	t.Run("a leader that does not renew its Lease becomes unknown", aLeaderThatDoesNotRenewItsLeaseBecomesUnknown)
}

func aSuspendedProcessDoesNotLeadWhenItContinues(t *testing.T) {
	changes := 0
	l := &lock{lease: time.Minute, changed: func() { changes++ }}
	record := recordOf("a", time.Now())
	l.hold(&record)
	if !l.leading() || changes != 1 {
		t.Errorf("leads: %v, changes %d", l.leading(), changes)
	}
	record = recordOf("a", time.Now().Add(-time.Minute))
	l.hold(&record)
	if _, known := l.leader(); l.leading() || !known {
		t.Error("it still leads after a minute, or is unknown")
	}
	record = recordOf("a", time.Now())
	l.hold(&record)
	if !l.leading() || changes != 2 {
		t.Errorf("after a renewal it leads: %v, changes %d", l.leading(), changes)
	}
	l.drop()
	l.drop()
	if l.leading() || changes != 3 {
		t.Errorf("after a release it leads: %v, changes %d", l.leading(), changes)
	}
}

func aLeaderUsesTheMonotonicClock(t *testing.T) {
	l := &lock{lease: time.Minute, changed: func() {}}
	record := recordOf("a", time.Now())
	l.hold(&record)
	if !strings.Contains(l.until.String(), " m=") {
		t.Error("the time has no reading of the monotonic clock")
	}
	if whole := l.until.Truncate(time.Second); !l.until.Equal(whole) {
		t.Errorf("it leads until %v, although others may wait from the whole second", l.until)
	}
}

func aLeaderThatDoesNotRenewItsLeaseBecomesUnknown(t *testing.T) {
	l := &lock{lease: time.Minute, changed: func() {}}
	record := recordOf("b", time.Now())
	l.see(&record)
	if got, known := l.leader(); !known || got.Identity != "b" {
		t.Errorf("%v, %v", got, known)
	}
	l.seenAt = l.seenAt.Add(-time.Minute)
	l.see(&record)
	if got, known := l.leader(); known {
		t.Errorf("after a minute without a renewal: %v", got)
	}
	record = recordOf("", time.Now())
	l.see(&record)
	if got, known := l.leader(); known {
		t.Errorf("after a release: %v", got)
	}
}

func recordOf(identity string, renewed time.Time) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: identity, LeaseDurationSeconds: 60, RenewTime: metav1.NewTime(renewed)}
}
