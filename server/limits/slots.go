package limits

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// previewPause is how long a caller should wait before it tries a preview again.
const previewPause = 2 * time.Second

// Slots limits how much is planned for callers at the same time: streams of plans, manifests,
// or the impact of ratio changes. A slot is taken until its work ends, so callers cannot lose one.
// Instead, no origin may have more than half of the slots, and so on for accounts and credentials. A
// nil Slots has no limit.
type Slots struct {
	mu    sync.Mutex
	taken *fair.Pool[struct{}]
}

// NewSlots returns Slots with the given number of slots; 0 means no limit.
func NewSlots(most int) *Slots {
	if most == 0 {
		return nil
	}
	ofOrigin := fair.Half(most)
	ofAccount := fair.Half(ofOrigin)
	return &Slots{taken: fair.NewPool[struct{}](fair.Limits{All: most, PerOrigin: ofOrigin, PerAccount: ofAccount, PerCredential: fair.Half(ofAccount)})}
}

// Take takes a slot, or returns an error if none is free. Call it only after the caller has
// been authorized.
func (s *Slots) Take(ctx context.Context) (release func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	who, user := access.QuotaFrom(ctx), false
	switch {
	case access.IsLocal(ctx):
		who = fair.Key{} // It is limited only by what others have.
	case who.Account == who.Origin:
		// A user is alone in its origin, so that its credentials have what accounts would.
		who, user = fair.Key{Origin: who.Origin, Account: who.Credential}, true
	}
	slot := new(fair.Share[struct{}])
	s.mu.Lock()
	defer s.mu.Unlock()
	if full := s.taken.Take(slot, who, 1); full != nil {
		return nil, tooManyPreviews(full, user)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		slot.Release()
	}, nil
}

func tooManyPreviews(full *fair.Full, user bool) error {
	format := "your credential already has %d previews of many pods running, half of what --max-previews allows for its account"
	switch {
	case full.Level == fair.All:
		format = "%d previews of many pods are already running (--max-previews)"
	case full.Level == fair.Origin && user:
		format = "you already have %d previews of many pods running, half of what --max-previews allows for all callers"
	case full.Level == fair.Origin:
		format = "the ServiceAccounts of your namespace already have %d previews of many pods running, half of what --max-previews allows for all callers"
	case full.Level == fair.Account && !user:
		format = "your ServiceAccount already has %d previews of many pods running, half of what --max-previews allows for its namespace"
	}
	return tooMany(rpcerror.TooManyPreviews, fmt.Sprintf(format, full.Most), previewPause)
}
