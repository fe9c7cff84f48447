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
// or the impact of ratio changes. A slot is taken until its work ends, so unlike a crowd, callers
// cannot lose one. Instead, no origin may have more than half of the slots, and so on for accounts
// and credentials. A nil Slots has no limit.
type Slots struct {
	most int

	mu    sync.Mutex
	taken holders
	inAll int
}

// NewSlots returns Slots with the given number of slots; 0 means no limit.
func NewSlots(most int) *Slots {
	if most == 0 {
		return nil
	}
	return &Slots{most: most, taken: holders{}}
}

// Take takes a slot, or returns an error if none is free. Call it only after the caller has
// been authorized.
func (s *Slots) Take(ctx context.Context) (release func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	caller := access.FromContext(ctx)
	who := whoOf(&caller)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inAll >= s.most {
		return nil, tooManyPreviews("%d previews of many pods are already running (--max-previews)", s.most)
	}
	if !caller.Local {
		if err := s.share(who); err != nil {
			return nil, err
		}
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

// share returns an error if a caller has its share of the slots.
func (s *Slots) share(who access.Who) error {
	most := half(s.most)
	if who.Account != who.Origin {
		if s.taken.origin(who) >= most {
			return tooManyPreviews("the ServiceAccounts of your namespace already have %d previews of many pods running, half of what --max-previews allows for all callers", most)
		}
		if most = half(most); s.taken.account(who) >= most {
			return tooManyPreviews("your ServiceAccount already has %d previews of many pods running, half of what --max-previews allows for its namespace", most)
		}
	} else if s.taken.account(who) >= most {
		return tooManyPreviews("you already have %d previews of many pods running, half of what --max-previews allows for all callers", most)
	}
	if most = half(most); s.taken.credential(who) >= most {
		return tooManyPreviews("your credential already has %d previews of many pods running, half of what --max-previews allows for its account", most)
	}
	return nil
}

func tooManyPreviews(format string, most int) error {
	return tooMany(rpcerror.TooManyPreviews, fmt.Sprintf(format, most), previewPause)
}
