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
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

const (
	// remembered is how long an answer of the API server that allows something is cached.
	remembered = 10 * time.Second
	// refusedFor is how long the rejection of a token is cached. A bad token does not become
	// good, but the API server may have had outdated information.
	refusedFor = time.Second
	// deniedFor is how long the denial of a right is cached: so briefly that a newly granted
	// right takes effect soon, but a caller in a loop does not cause a review per call.
	deniedFor = time.Second
	// reviewTimeout limits one request to the API server.
	reviewTimeout = 5 * time.Second
	// provenFor is how long a token that was good is reviewed with priority.
	provenFor = 10 * time.Minute
	// cacheSize is how many identities, and how many rights, are cached.
	cacheSize = 4096
)

// Config configures an Access.
type Config struct {
	// Tokens, Renewals, Rights and Visibility are clients of the API server. Renewals reviews
	// tokens that were recently good, Tokens all others. Rights reviews the rights to call
	// methods, Visibility the namespaces that callers can see. Each should have its own request
	// budget, so that neither a flood of bad tokens nor a list of many namespaces delays known
	// callers. A standalone server has none of them and refuses all credentials. If Renewals
	// is nil, Tokens is used; if Visibility is nil, Rights is.
	Tokens, Renewals   authenticationclient.TokenReviewInterface
	Rights, Visibility authorizationclient.SubjectAccessReviewInterface
	// Issuer checks the signatures of tokens. Without it, only the API server can tell which
	// tokens are made up.
	Issuer *Issuer
	// Audiences are the accepted audiences of tokens. A token must be for at least one of
	// them.
	Audiences []string
	// Local lets callers on this machine that send no credentials do everything. It is for a
	// server that listens on loopback in plaintext.
	Local bool
	// Clock is the clock; nil for the system clock.
	Clock clock.PassiveClock
}

// Access identifies callers and decides what they may do. It is safe for concurrent use.
type Access struct {
	config Config
	// identities caches identities by certificate, or by the hash of a token.
	identities *cache.LRUExpireCache
	// proven caches Who called with tokens that were recently good, by the hash of the token.
	proven *cache.LRUExpireCache
	// budgets are for the reviews of other tokens.
	budgets budgets
	// rights caches what is allowed, and denials what is not, by attributes. They are apart
	// because callers choose the namespaces that they are denied: these must not evict the
	// rights of others.
	rights, denials *cache.LRUExpireCache
	// reviewing has the reviews of rights in progress.
	reviewing *fair.Queue
	// visibility knows which namespaces callers can see.
	visibility *visibility
	// reviews lets concurrent calls with the same question share one answer.
	reviews singleflight.Group
}

// New returns an Access with empty caches.
func New(config Config) *Access {
	if config.Clock == nil {
		config.Clock = clock.RealClock{}
	}
	if config.Renewals == nil {
		config.Renewals = config.Tokens
	}
	if config.Visibility == nil {
		config.Visibility = config.Rights
	}
	return &Access{
		config:     config,
		identities: cache.NewLRUExpireCacheWithClock(cacheSize, config.Clock),
		proven:     cache.NewLRUExpireCacheWithClock(cacheSize, config.Clock),
		budgets:    newBudgets(),
		rights:     cache.NewLRUExpireCacheWithClock(cacheSize, config.Clock),
		denials:    cache.NewLRUExpireCacheWithClock(cacheSize, config.Clock),
		reviewing:  fair.NewQueue(0, reviewsPerOrigin),
		visibility: newVisibility(config.Clock, config.Visibility),
	}
}

// review asks the API server, once for all concurrent calls with the same question. A
// canceled call does not cancel the request of the others. If ask panics, each of these calls
// panics.
func (a *Access) review(ctx context.Context, question string, ask func(context.Context) (any, error)) (any, error) {
	answer := a.reviews.DoChan(question, func() (_ any, err error) {
		defer func() {
			// Nothing recovers in this goroutine, so a panic would end the process.
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

// panicked carries a panic from the goroutine that asks to the calls that wait for the
// answer, which know how to handle it.
type panicked struct {
	cause any
	stack []byte
}

// Error implements error.
func (p *panicked) Error() string { return fmt.Sprintf("%v\n\n%s", p.cause, p.stack) }

// notReady returns the error for an API server that does not report who the caller is, or
// what it may do. The cause is only logged: it contains the address of the API server, and
// the caller may be anybody.
func notReady(ctx context.Context, asked string, cause error) error {
	if !errors.Is(cause, context.Canceled) {
		klog.FromContext(ctx).Error(cause, "API server did not report the "+asked+" of a caller")
	}
	return rpcerror.New(rpcerror.IdentityNotReady, "the API server did not report your "+asked+"; the server's log has the cause; try again later")
}

// noCluster returns the error for credentials that a standalone server cannot check.
func noCluster() error { return rpcerror.New(rpcerror.IdentityNotReady, errNoCluster.Error()) }
