package leader

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
)

// Config configures an Elector. All fields must be set.
type Config struct {
	// Client reads and writes the Lease. The timeout of its requests must be RequestTimeout.
	Client coordinationv1.LeasesGetter
	// Namespace and Name identify the Lease.
	Namespace, Name string
	// Identity is the unique name of this replica.
	Identity string
	// LeaseDuration is how long replicas wait for a leader that does not renew the
	// Lease, in whole seconds, at least MinLeaseDuration. All other times follow from it.
	LeaseDuration time.Duration
}

// Elector is a candidate for leader. All methods are safe for concurrent use at any time.
type Elector struct {
	lock    *lock
	elector *leaderelection.LeaderElector

	changes broadcast.Broadcast
}

// New returns an elector that does nothing until Run.
func New(config Config) (*Elector, error) {
	e := &Elector{}
	e.lock = &lock{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: config.Namespace, Name: config.Name},
			Client:     config.Client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: config.Identity},
		},
		lease:   config.LeaseDuration,
		changed: e.changes.Notify,
	}
	var err error
	e.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          e.lock,
		LeaseDuration: config.LeaseDuration,
		RenewDeadline: renewDeadline(config.LeaseDuration),
		// client-go waits up to this many times the period.
		RetryPeriod:     time.Duration(float64(retryPeriod(config.LeaseDuration)) / (1 + leaderelection.JitterFactor)),
		ReleaseOnCancel: true,
		Name:            config.Name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {},
			OnStoppedLeading: e.lock.drop,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("set up leader election: %w", err)
	}
	return e, nil
}

// Run calls work, and takes part in the election once ready is closed: a replica that cannot
// work yet must not be preferred to one that can. A replica that loses the Lease continues,
// and takes part again. When ctx is done, work must end. The Lease is released only after
// that, so that no other replica leads while this one may still write.
func (e *Elector) Run(ctx context.Context, ready <-chan struct{}, work func(context.Context) error) error {
	standing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		select {
		case <-ready:
			e.stand(standing)
		case <-standing.Done():
		}
	})
	err := work(ctx)
	stop()
	running.Wait()
	return err
}

func (e *Elector) stand(ctx context.Context) {
	logger := klog.FromContext(ctx)
	for ctx.Err() == nil {
		e.elector.Run(ctx)
		if ctx.Err() == nil {
			logger.Info("Lost the Lease; another replica may lead", "lease", e.lock.Describe())
		}
	}
}

// Leading reports whether this replica leads now, that is, whether no other replica can
// have acquired the Lease, even if this process was suspended for a while.
func (e *Elector) Leading() bool { return e.lock.leading() }

// Watch returns a channel that receives after this replica has started or stopped leading.
// Changes that happen faster than they are received are merged into one.
func (e *Elector) Watch() <-chan struct{} { return e.changes.Watch() }

// Leader describes the replica that leads.
type Leader struct {
	// Identity is the name of the replica.
	Identity string
	// Acquired is when the replica began to lead, and Renewed is when it last
	// renewed the Lease, both by the replica's own clock.
	Acquired, Renewed time.Time
}

// Leader returns the leader that this replica has seen; false if there is none, or it is
// unknown.
func (e *Elector) Leader() (Leader, bool) { return e.lock.leader() }
