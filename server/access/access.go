package access

import (
	"context"
	"errors"
	"fmt"
	rundebug "runtime/debug"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/util/cache"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/utils/clock"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

const (
	// remembered is how long what the API server allows is not asked again.
	remembered = 10 * time.Second
	// refusedFor is how long a bad token is not asked about again: it will not
	// become good, but what the API server knows may have been old.
	refusedFor = time.Second
	// reviewTimeout bounds one question to the API server.
	reviewTimeout = 5 * time.Second
	// provenFor is how long a token that was good is asked about before others.
	provenFor = 10 * time.Minute
	// cacheSize is how many identities, and how many rights, are remembered.
	cacheSize = 4096
)

// Config is what an Access is made of.
type Config struct {
	// Tokens, Renewals and Rights are where the API server is asked: Renewals
	// about tokens that were good a while ago, Tokens about all others. Each
	// should have a budget of requests of its own, so that a flood of bad tokens
	// does not keep known callers waiting. A server without a cluster has none of
	// them; it refuses all credentials. Renewals is as Tokens if it is nil.
	Tokens, Renewals authenticationclient.TokenReviewInterface
	Rights           authorizationclient.SubjectAccessReviewInterface
	// Audiences are what tokens must be meant for, at least one of these.
	Audiences []string
	// Local lets callers of this machine that give no credentials do
	// everything. It is for a server that listens on loopback in plaintext.
	Local bool
	// Clock is the time; the system's if it is nil.
	Clock clock.PassiveClock
}

// Access answers who calls and what they may do. It is safe for concurrent use.
type Access struct {
	config Config
	// identities has them by certificate, or by the hash of a token.
	identities *cache.LRUExpireCache
	// proven has the hashes of tokens that were good a while ago.
	proven *cache.LRUExpireCache
	// newcomers limits the questions about other tokens.
	newcomers *newcomers
	// rights has what is allowed, by attributes.
	rights *cache.LRUExpireCache
	// unseen has the pods that callers may not get, by attributes.
	unseen *cache.LRUExpireCache
	// reviews lets calls with the same question share one answer.
	reviews singleflight.Group
}

// New returns an Access that remembers nothing yet.
func New(config Config) *Access {
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	if config.Renewals == nil {
		config.Renewals = config.Tokens
	}
	return &Access{
		config:     config,
		identities: cache.NewLRUExpireCacheWithClock(cacheSize, config.Clock),
		proven:     cache.NewLRUExpireCacheWithClock(cacheSize, config.Clock),
		newcomers:  newNewcomers(config.Clock),
		rights:     cache.NewLRUExpireCacheWithClock(cacheSize, config.Clock),
		unseen:     cache.NewLRUExpireCacheWithClock(unseenSize, config.Clock),
	}
}

// review asks the API server, once for all calls that ask the same at a time. A
// call that is given up does not take the answer from the others. If ask panics,
// each of these calls does.
func (a *Access) review(ctx context.Context, question string, ask func(context.Context) (any, error)) (any, error) {
	answer := a.reviews.DoChan(question, func() (_ any, err error) {
		defer func() {
			// Nobody would recover here, and the process would end.
			if cause := recover(); cause != nil {
				err = &panicked{cause, rundebug.Stack()}
			}
		}()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTimeout)
		defer cancel()
		return ask(ctx)
	})
	select {
	case a := <-answer:
		if p := (*panicked)(nil); errors.As(a.Err, &p) {
			panic(p)
		}
		return a.Val, a.Err
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// panicked carries a panic from where a question was asked to the calls that wait
// for the answer, which know what to do with it.
type panicked struct {
	cause any
	stack []byte
}

// Error implements error.
func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.cause, p.stack) }

// notReady is the error that the API server does not say who calls, or what they
// may do.
func notReady(attempt string, err error) error {
	return rpcerror.New(rpcerror.IdentityNotReady, fmt.Sprintf("%s: %v; try again later", attempt, err))
}
