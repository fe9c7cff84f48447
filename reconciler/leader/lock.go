package leader

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is the Lease, and what was seen of it.
type lock struct {
	resourcelock.Interface
	// lease is how long a leader is waited for.
	lease time.Duration
	// changed is called after this replica has begun to lead, or stopped.
	changed func()

	mu sync.Mutex
	// until is until when nobody else can lead; zero if this replica does not.
	until time.Time
	// seen is the record as it was read or written last, and seenAt when it was
	// first seen like that.
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

// release gives the Lease up, unless somebody else has it by now: client-go
// remembers only what it was before its last read.
func (l *lock) release(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	l.drop()
	l.mu.Lock()
	holder := l.seen.HolderIdentity
	l.mu.Unlock()
	if holder != l.Identity() {
		return fmt.Errorf("release Lease %s: %q has it", l.Describe(), holder)
	}
	err := l.Interface.Update(ctx, record)
	if err == nil {
		l.see(&record)
	}
	return err
}

// hold takes note that this replica has written that it leads. The others wait
// from when they see that, which is later than the time in the record; but client-go
// compares records by whole seconds, so that of several within one second they may
// have seen the first.
func (l *lock) hold(record *resourcelock.LeaderElectionRecord) {
	l.see(record)
	l.mu.Lock()
	before := l.leads()
	renewed := record.RenewTime.Time
	// Truncate would take the monotonic clock away.
	l.until = renewed.Add(l.lease - time.Duration(renewed.Nanosecond()))
	begun := !before && l.leads()
	l.mu.Unlock()
	if begun {
		l.changed()
	}
}

// drop takes note that this replica does not lead any more.
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

// leads goes by both clocks: one stands still while the machine does, the other may
// be set back.
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
