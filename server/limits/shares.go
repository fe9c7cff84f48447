package limits

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/workload-resizer/workload-resizer/server/access"
)

const (
	// activeFor is how long after its last call a credential counts as active.
	activeFor = 10 * time.Second
	// mostCredentials is how many credentials of an account are remembered. Beyond that, the
	// least recently active ones are forgotten.
	mostCredentials = 256
)

// shares divides the rate of an account among its credentials, so that none can use up the
// calls of the others. A quarter of the burst is a reserve. A credential takes calls from above
// the reserve as they come, and from the reserve only at its share of the rate, which is smaller
// than the equal part of each active credential. So a single credential can use the whole rate,
// and still leaves the reserve to a second one.
type shares struct {
	mu          sync.Mutex
	account     *rate.Limiter
	reserve     float64
	credentials map[string]*share
}

// share is what one credential may take from the reserve.
type share struct {
	limiter *rate.Limiter
	last    time.Time
}

func newShares(perSecond rate.Limit, burst int) *shares {
	return &shares{account: rate.NewLimiter(perSecond, burst), reserve: float64(burst) / 4, credentials: map[string]*share{}}
}

// allow reports whether a call may begin, and counts it then. Calls of an empty credential
// take from the account as they come.
func (s *shares) allow(credential string, now time.Time) bool {
	if credential == "" {
		return s.account.AllowN(now, 1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.of(credential, now)
	if s.account.TokensAt(now) > s.reserve {
		return s.account.AllowN(now, 1)
	}
	return s.account.TokensAt(now) >= 1 && own.limiter.AllowN(now, 1) && s.account.AllowN(now, 1)
}

// of returns the share of a credential, which is active now.
func (s *shares) of(credential string, now time.Time) *share {
	own, ok := s.credentials[credential]
	if !ok {
		s.forget(now)
		own = &share{}
		s.credentials[credential] = own
	}
	own.last = now
	active := 0
	for _, other := range s.credentials {
		if now.Sub(other.last) <= activeFor {
			active++
		}
	}
	part := 1 / float64(active+1)
	limit, burst := s.account.Limit()*rate.Limit(part), max(1, int(s.reserve*part))
	switch {
	case own.limiter == nil:
		own.limiter = rate.NewLimiter(limit, burst)
	case own.limiter.Limit() != limit:
		own.limiter.SetLimitAt(now, limit)
		own.limiter.SetBurstAt(now, burst)
	}
	return own
}

// forget makes room for one more credential.
func (s *shares) forget(now time.Time) {
	for len(s.credentials) >= mostCredentials {
		oldest, at := "", now
		for id, other := range s.credentials {
			if !other.last.After(at) {
				oldest, at = id, other.last
			}
		}
		delete(s.credentials, oldest)
	}
	for id, other := range s.credentials {
		if now.Sub(other.last) > activeFor {
			delete(s.credentials, id)
		}
	}
}

// credentialOf returns the credential by which a caller shares the limits of its account. It is
// empty for callers that are bound to a node: these have limits for each node.
func credentialOf(caller *access.Caller) string {
	if _, bound := caller.Node(); bound {
		return ""
	}
	return caller.Credential()
}
