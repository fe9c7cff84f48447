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

// Config says how to elect. All fields must be set.
type Config struct {
	// Client reads and writes the Lease. It must bound the time of a request by
	// less than RenewDeadline.
	Client coordinationv1.LeasesGetter
	// Namespace and Name are those of the Lease.
	Namespace, Name string
	// Identity is the name of this replica; no two may have the same.
	Identity string
	// LeaseDuration is how long a leader is waited for that says nothing: whole
	// seconds.
	LeaseDuration time.Duration
	// RenewDeadline is how long a leader tries to say that it still leads before
	// it gives up: less than LeaseDuration, more than RetryPeriod.
	RenewDeadline time.Duration
	// RetryPeriod is the longest time between two looks at the Lease.
	RetryPeriod time.Duration
}

// Elector stands for election as the leader. All methods may be called at any
// time from any goroutine.
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
		RenewDeadline: config.RenewDeadline,
		// client-go lets pass up to this many times the period.
		RetryPeriod:     time.Duration(float64(config.RetryPeriod) / (1 + leaderelection.JitterFactor)),
		ReleaseOnCancel: true,
		Name:            config.Name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {},
			OnStoppedLeading: e.lock.drop,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("set up the election of a leader: %w", err)
	}
	return e, nil
}

// Run does work, and stands for election once ready is closed: who cannot work yet is
// not to be preferred to a replica that can. One that loses the Lease goes on, and stands
// again. When ctx is done, work has to end, and the Lease is given up only after that:
// nobody else leads while this replica may still write.
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
			logger.Info("Lease is lost, another replica may lead", "lease", e.lock.Describe())
		}
	}
}

// Leading tells whether this replica leads now: whether nobody else can have
// taken the Lease yet, even if this process has been stopped for a while.
func (e *Elector) Leading() bool { return e.lock.leading() }

// Watch returns a channel that receives after this replica has begun to lead, or
// has stopped; changes that come faster than they are received are one.
func (e *Elector) Watch() <-chan struct{} { return e.changes.Watch() }

// Leader is the replica that leads.
type Leader struct {
	// Identity is its name.
	Identity string
	// Acquired is since when it leads, Renewed when it last said so, both by its
	// own clock.
	Acquired, Renewed time.Time
}

// Leader returns who leads as far as this replica has seen; false if nobody does,
// or that is not known.
func (e *Elector) Leader() (Leader, bool) { return e.lock.leader() }
