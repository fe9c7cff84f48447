package limits

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// previewPause is how long to wait before a preview is tried again.
const previewPause = 2 * time.Second

// Slots bound what is planned for callers at once: streams of plans and
// manifests, or what changes of ratios would mean. A nil one has no limit.
type Slots struct {
	// most is how many there are, perCaller how many one caller may have of
	// them, so that nobody keeps all others out.
	most, perCaller int

	mu    sync.Mutex
	taken map[string]int
	inAll int
}

// NewSlots returns so many slots; 0 is no limit.
func NewSlots(most int) *Slots {
	if most == 0 {
		return nil
	}
	return &Slots{most: most, perCaller: (most + 1) / 2, taken: map[string]int{}}
}

// Take takes a slot, or says that there is none. It is to be called once the
// caller is known to be allowed what it asks for.
func (s *Slots) Take(ctx context.Context) (release func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	caller := access.FromContext(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.inAll >= s.most:
		return nil, tooMany(rpcerror.TooManyPreviews, fmt.Sprintf("%d previews of many pods run already (--max-previews)", s.most), previewPause)
	case !caller.Local && s.taken[caller.Name] >= s.perCaller:
		return nil, tooMany(rpcerror.TooManyPreviews, fmt.Sprintf("%d previews of many pods run already for you, half of what --max-previews allows for all", s.perCaller), previewPause)
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
