package leader

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is the Lease, and the last record seen in it.
type lock struct {
	resourcelock.Interface
	// lease is how long other replicas wait for a leader.
	lease time.Duration
	// changed is called after this replica has started or stopped leading.
	changed func()

	mu sync.Mutex
	// until is the time until which no other replica can lead; zero if this replica does
	// not lead.
	until time.Time
	// seen is the record that was last read or written, and seenAt is when it was first
	// seen.
	seen   resourcelock.LeaderElectionRecord
	seenAt time.Time
}

// Get implements resourcelock.Interface.
func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil {
		l.see(record)
	}
	return record, raw, err
}

// Create implements resourcelock.Interface.
func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	err := l.Interface.Create(ctx, record)
	if err == nil {
		l.hold(&record)
	}
	return err
}

// Update implements resourcelock.Interface.
func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		return l.release(ctx, record)
	}
	err := l.Interface.Update(ctx, record)
	if err == nil {
		l.hold(&record)
	}
	return err
}

// release releases the Lease, unless another replica holds it now: client-go remembers only
// the Lease from before its last read.
func (l *lock) release(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	l.drop()
	l.mu.Lock()
	holder := l.seen.HolderIdentity
	l.mu.Unlock()
	if holder != l.Identity() {
		return fmt.Errorf("release Lease %s: %q holds it", l.Describe(), holder)
	}
	err := l.Interface.Update(ctx, record)
	if err == nil {
		l.see(&record)
	}
	return err
}

// hold records that this replica has acquired or renewed the Lease. Other replicas wait from
// when they see the record, which is later than the time in it. But client-go compares
// records in whole seconds, so other replicas may wait from the first of several records
// within one second.
func (l *lock) hold(record *resourcelock.LeaderElectionRecord) {
	l.see(record)
	l.mu.Lock()
	before := l.leads()
	renewed := record.RenewTime.Time
	// Truncate would strip the reading of the monotonic clock.
	l.until = renewed.Add(l.lease - time.Duration(renewed.Nanosecond()))
	begun := !before && l.leads()
	l.mu.Unlock()
	if begun {
		l.changed()
	}
}

// drop records that this replica no longer leads.
func (l *lock) drop() {
	l.mu.Lock()
	led := !l.until.IsZero()
	l.until = time.Time{}
	l.mu.Unlock()
	if led {
		l.changed()
	}
}

func (l *lock) see(record *resourcelock.LeaderElectionRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seenAt.IsZero() || l.seen.HolderIdentity != record.HolderIdentity || !l.seen.RenewTime.Equal(&record.RenewTime) {
		l.seenAt = time.Now()
	}
	l.seen = *record
}

func (l *lock) leading() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leads()
}

// leads checks both clocks: the monotonic clock stops while the machine is suspended, and
// the wall clock may be set back.
func (l *lock) leads() bool {
	now := time.Now()
	return now.Before(l.until) && now.Round(0).Before(l.until.Round(0))
}

func (l *lock) leader() (Leader, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waited := time.Duration(l.seen.LeaseDurationSeconds) * time.Second
	if l.seen.HolderIdentity == "" || time.Since(l.seenAt) > waited {
		return Leader{}, false
	}
	return Leader{Identity: l.seen.HolderIdentity, Acquired: l.seen.AcquireTime.Time, Renewed: l.seen.RenewTime.Time}, true
}
