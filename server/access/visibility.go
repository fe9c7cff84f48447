package access

import (
	"context"
	"errors"
	rundebug "runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/fair"
)

const (
	// visibilitySize is how many decisions are cached: enough for several callers in a cluster
	// with thousands of namespaces.
	visibilitySize = 65536
	// continuedFor is how long the decisions of a list that was cut off count for the next
	// one, and continueWithin how soon it must follow. Otherwise, in a cluster with enough
	// namespaces, decisions would expire as fast as new ones are made, and no list would ever
	// be complete.
	continuedFor   = 3 * time.Minute
	continueWithin = time.Minute
)

// purpose is the kind of call that needs a decision.
type purpose struct {
	// unseenFor is the maximum age of the decision that a caller cannot see a namespace. It
	// affects only reads.
	unseenFor time.Duration
	// timeout limits a review, with the wait for the client's own rate limit.
	timeout time.Duration
	// list means that the decisions of a list that was cut off count.
	list bool
}

var (
	// one is for a namespace that a caller has named, or for all namespaces.
	one = purpose{unseenFor: 5 * time.Second, timeout: reviewTimeout}
	// many is for lists, most of whose namespaces most callers cannot see.
	many = purpose{unseenFor: time.Minute, timeout: 4 * reviewTimeout, list: true}
)

// decision is whether a caller may get pods in a namespace, and when the API server said so.
type decision struct {
	sees bool
	at   time.Time
}

// visibility knows in which namespaces callers may get pods. It is safe for concurrent use.
type visibility struct {
	clock clock.PassiveClock
	// reviews is nil for a standalone server.
	reviews authorizationclient.SubjectAccessReviewInterface
	// reviewing has the reviews in progress.
	reviewing *fair.Queue

	mu sync.Mutex
	// pending has the questions that are being asked, and those that wait for their turn.
	pending map[attributes]chan struct{}

	// decisions are by attributes.
	decisions *cache.LRUExpireCache
	// continued has the time from which decisions count for the next list of a caller whose
	// last one was cut off, by the hash of the identity.
	continued *cache.LRUExpireCache
}

func newVisibility(clock clock.PassiveClock, reviews authorizationclient.SubjectAccessReviewInterface) *visibility {
	return &visibility{
		clock: clock, reviews: reviews, reviewing: fair.NewQueue(0, reviewsPerOrigin), pending: map[attributes]chan struct{}{},
		decisions: cache.NewLRUExpireCacheWithClock(visibilitySize, clock), continued: cache.NewLRUExpireCacheWithClock(cacheSize, clock),
	}
}

// sees reports whether a caller may get pods in a namespace. Concurrent calls with the same
// question share an answer. But unlike those of rights, a review ends with the call that makes
// it, so that a caller never has more of them in progress than it may; the next call that
// waits for it then makes its own.
func (s *visibility) sees(ctx context.Context, id *identity, namespace string, of purpose) (bool, error) {
	if id.Name == "" {
		return false, nil
	}
	what := attributes{id.hash, "", "get", "pods", namespace}
	for {
		if sees, ok := s.decided(what, of); ok {
			return sees, nil
		}
		if s.reviews == nil {
			return false, noCluster()
		}
		ended, first := s.begin(what)
		if first {
			defer s.end(what)
			// Another call may have just ended one.
			if sees, ok := s.decided(what, of); ok {
				return sees, nil
			}
			return s.review(ctx, id, what, of)
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// begin reports whether the caller of begin must make a review, and then call end. Otherwise
// another call makes it, until ended is closed.
func (s *visibility) begin(what attributes) (ended <-chan struct{}, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ended, ok := s.pending[what]; ok {
		return ended, false
	}
	s.pending[what] = make(chan struct{})
	return nil, true
}

func (s *visibility) end(what attributes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.pending[what])
	delete(s.pending, what)
}

func (s *visibility) review(ctx context.Context, id *identity, what attributes, of purpose) (bool, error) {
	leave, err := s.reviewing.Enter(ctx, fair.Turn{Key: id.who})
	if err != nil {
		return false, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, of.timeout)
	defer cancel()
	sees, err := ask(ctx, s.reviews, &id.Caller, what)
	if err != nil {
		return false, err
	}
	s.decisions.Add(what, decision{sees, s.clock.Now()}, continuedFor+continueWithin)
	return sees, nil
}

// decided returns a decision that is not too old.
func (s *visibility) decided(what attributes, of purpose) (sees, ok bool) {
	found, ok := s.decisions.Get(what)
	if !ok {
		return false, false
	}
	known, now := found.(decision), s.clock.Now()
	most := of.unseenFor
	if known.sees {
		most = remembered
	}
	if now.Sub(known.at) <= most {
		return known.sees, true
	}
	if !of.list {
		return false, false
	}
	since, ok := s.continued.Get(what.who)
	return known.sees, ok && !known.at.Before(since.(time.Time))
}

// continueSoon makes the decisions of a list count for the next one, because it was cut off.
func (s *visibility) continueSoon(id *identity, began time.Time) {
	if since, ok := s.continued.Get(id.hash); ok && s.clock.Since(since.(time.Time)) < continuedFor {
		began = since.(time.Time)
	}
	s.continued.Add(id.hash, began, continueWithin)
}

// seesEach returns what sees does for each of the namespaces, for lists, in the same order. If
// a review panics, the caller of seesEach panics.
func (s *visibility) seesEach(ctx context.Context, id *identity, namespaces []string) ([]bool, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sees := make([]bool, len(namespaces))
	var next atomic.Int64
	var reviewing sync.WaitGroup
	for range min(len(namespaces), reviewsPerOrigin) {
		reviewing.Go(func() {
			defer func() {
				// Nothing recovers in this goroutine, so a panic would end the process.
				if cause := recover(); cause != nil {
					cancel(&panicked{cause, rundebug.Stack()})
				}
			}()
			for i := next.Add(1) - 1; i < int64(len(namespaces)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				var err error
				if sees[i], err = s.sees(ctx, id, namespaces[i], many); err != nil {
					cancel(err)
				}
			}
		})
	}
	reviewing.Wait()
	err := context.Cause(ctx)
	if p := (*panicked)(nil); errors.As(err, &p) {
		panic(p)
	}
	return sees, err
}
