package fair

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// activeFor is how long after its last use a credential counts as active.
	activeFor = 10 * time.Second
	// mostCredentials is how many credentials of an account are remembered. Beyond that, the
	// least recently active ones are forgotten.
	mostCredentials = 256
)

// Rate bounds how often callers use something. All methods are safe for concurrent use.
//
// The credentials of an account divide its rate. A quarter of its burst is a reserve. A credential
// takes from above the reserve as it comes, and from the reserve only at its share of the rate, which
// is smaller than the equal part of each active credential. So a single credential can use the whole
// rate, and still leaves the reserve to a second one.
type Rate struct {
	limits Rates
	mu     sync.Mutex
	// origins and accounts are by Key without the narrower parts.
	origins  *recent[Key, *rate.Limiter]
	accounts *recent[Key, *account]
}

// Rates are the rates of each origin, and of each account in it.
type Rates struct{ PerOrigin, PerAccount Burst }

// Burst is a rate, and how many may come at the same time after a pause. The zero value is no limit.
type Burst struct {
	PerSecond float64
	Most      int
}

func (b Burst) limiter() *rate.Limiter { return rate.NewLimiter(rate.Limit(b.PerSecond), b.Most) }

// account is the rate of an account.
type account struct {
	all     *rate.Limiter
	reserve float64
	// active are the credentials that were used lately.
	active *recent[string, credential]
}

// credential is what one credential may take from the reserve.
type credential struct {
	own  *rate.Limiter
	last time.Time
}

// NewRate returns a Rate that remembers the use of this many origins and accounts each.
func NewRate(limits Rates, remembered int) *Rate {
	return &Rate{limits: limits, origins: newRecent[Key, *rate.Limiter](remembered), accounts: newRecent[Key, *account](remembered)}
}

// Allow reports whether a caller may use something now, and counts it then. Otherwise, it returns
// the narrowest level whose rate is used up, and counts nothing.
func (r *Rate) Allow(who Key, now time.Time) (full Level, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all, own *rate.Limiter
	if r.limits.PerAccount != (Burst{}) {
		of := r.account(who)
		if own, ok = of.room(who.Credential, now); !ok {
			return Account, false
		}
		all = of.all
	}
	if r.limits.PerOrigin != (Burst{}) && !r.origin(who).AllowN(now, 1) {
		return Origin, false
	}
	for _, charged := range [...]*rate.Limiter{all, own} {
		if charged != nil {
			charged.AllowN(now, 1)
		}
	}
	return All, true
}

func (r *Rate) origin(who Key) *rate.Limiter {
	limiter := r.origins.use(who.prefix(Origin))
	if *limiter == nil {
		*limiter = r.limits.PerOrigin.limiter()
	}
	return *limiter
}

func (r *Rate) account(who Key) *account {
	a := r.accounts.use(who.prefix(Account))
	if *a == nil {
		of := r.limits.PerAccount
		*a = &account{of.limiter(), float64(of.Most) / 4, newRecent[string, credential](mostCredentials)}
	}
	return *a
}

// room reports whether a credential may use the rate now, and returns its share if that is charged,
// too. Without a name, it has none, and takes from the account as it comes.
func (a *account) room(name string, now time.Time) (share *rate.Limiter, ok bool) {
	left := a.all.TokensAt(now)
	if name == "" {
		return nil, left >= 1
	}
	own := a.use(name, now)
	if left > a.reserve {
		return nil, left >= 1
	}
	return own, left >= 1 && own.TokensAt(now) >= 1
}

// use returns the share of a credential, which is active now.
func (a *account) use(name string, now time.Time) *rate.Limiter {
	c := a.active.use(name)
	c.last = now
	for now.Sub(a.active.oldest().last) > activeFor {
		a.active.forgetOldest()
	}
	part := 1 / float64(len(a.active.byKey)+1)
	perSecond, most := a.all.Limit()*rate.Limit(part), max(1, int(a.reserve*part))
	switch {
	case c.own == nil:
		c.own = rate.NewLimiter(perSecond, most)
	case c.own.Limit() != perSecond:
		c.own.SetLimitAt(now, perSecond)
		c.own.SetBurstAt(now, most)
	}
	return c.own
}
