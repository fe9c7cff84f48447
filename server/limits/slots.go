package limits

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// previewPause is how long a caller should wait before it tries a preview again.
const previewPause = 2 * time.Second

// Slots limits how much is planned for callers at the same time: streams of plans, manifests,
// or the impact of ratio changes. A nil Slots has no limit.
type Slots struct {
	// most is the number of slots, and perCaller how many of them one caller may have, so
	// that no caller can block all others. perCredential is the same for the credentials of
	// one account.
	most, perCaller, perCredential int

	mu    sync.Mutex
	taken holders
	inAll int
}

// NewSlots returns Slots with the given number of slots; 0 means no limit.
func NewSlots(most int) *Slots {
	if most == 0 {
		return nil
	}
	return &Slots{most: most, perCaller: half(most), perCredential: half(half(most)), taken: holders{}}
}

// Take takes a slot, or returns an error if none is free. Call it only after the caller has
// been authorized.
func (s *Slots) Take(ctx context.Context) (release func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	caller := access.FromContext(ctx)
	who := holder{caller.Name, credentialOf(&caller)}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.inAll >= s.most:
		return nil, tooMany(rpcerror.TooManyPreviews, fmt.Sprintf("%d previews of many pods are already running (--max-previews)", s.most), previewPause)
	case !caller.Local && s.taken.account(who) >= s.perCaller:
		return nil, tooMany(rpcerror.TooManyPreviews, fmt.Sprintf("you already have %d previews of many pods running, half of what --max-previews allows for all callers", s.perCaller), previewPause)
	case s.taken.credential(who) >= s.perCredential:
		return nil, tooMany(rpcerror.TooManyPreviews, fmt.Sprintf("your credential already has %d previews of many pods running, half of what --max-previews allows for its account", s.perCredential), previewPause)
	}
	s.inAll++
	s.taken.add(who, 1)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inAll--
		s.taken.add(who, -1)
	}, nil
}
