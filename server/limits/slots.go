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

// Slots limits how much is planned for callers at once: streams of plans, manifests, or the
// impact of ratio changes. A nil Slots has no limit.
type Slots struct {
	// most is the number of slots, and perCaller how many of them one caller may have, so
	// that no caller can block all others.
	most, perCaller int

	mu    sync.Mutex
	taken map[string]int
	inAll int
}

// NewSlots returns Slots with the given number of slots; 0 means no limit.
func NewSlots(most int) *Slots {
	if most == 0 {
		return nil
	}
	return &Slots{most: most, perCaller: (most + 1) / 2, taken: map[string]int{}}
}

// Take takes a slot, or returns an error if none is free. Call it only after the caller has
// been authorized.
func (s *Slots) Take(ctx context.Context) (release func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	caller := access.FromContext(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.inAll >= s.most:
		return nil, tooMany(rpcerror.TooManyPreviews, fmt.Sprintf("%d previews of many pods are already running (--max-previews)", s.most), previewPause)
	case !caller.Local && s.taken[caller.Name] >= s.perCaller:
		return nil, tooMany(rpcerror.TooManyPreviews, fmt.Sprintf("you already have %d previews of many pods running, half of what --max-previews allows for all callers", s.perCaller), previewPause)
	}
	s.inAll++
	s.taken[caller.Name]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inAll--
		if s.taken[caller.Name]--; s.taken[caller.Name] == 0 {
			delete(s.taken, caller.Name)
		}
	}, nil
}
