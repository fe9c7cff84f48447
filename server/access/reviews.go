package access

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Tokens that were not recently good are reviewed at these rates.
var (
	// fromNetwork is for all that come from one address. A proxy is one address for all callers
	// behind it: after a restart of the server, hundreds of programs connect at the same time, and
	// one review per token is enough for ten minutes.
	fromNetwork = fair.Burst{PerSecond: 20, Most: 300}
	// ofAccount is for those that the cluster has signed for one account: a caller who may create
	// its tokens can create any number of them.
	ofAccount = fair.Burst{PerSecond: 5, Most: 30}
	// unsigned is for those that the cluster may not have signed, from one address.
	unsigned = fair.Burst{PerSecond: 5, Most: 50}
)

const (
	// networks is the maximum number of addresses that are remembered.
	networks = 4096
	// newPause is how long a caller should wait before it tries a token again.
	newPause = time.Second
	// reviewsPerOrigin is how many reviews of rights for callers of one origin may be in progress,
	// or wait for the rate limit of the client, at a time. Reviews wait there in order, so each
	// origin gets its share of the client's rate, and waits at most for this number of reviews of
	// each other one.
	reviewsPerOrigin = 8
)

// budgets are how many unknown tokens are reviewed: those that the cluster has signed, and others.
type budgets struct{ signed, unsigned *fair.Rate }

func newBudgets() budgets {
	return budgets{
		fair.NewRate(fair.Rates{PerOrigin: fromNetwork, PerAccount: ofAccount}, networks),
		fair.NewRate(fair.Rates{PerOrigin: unsigned}, networks),
	}
}

// admit counts a review of an unknown token from an address, or returns why it must not be made now.
// signed is the caller that the cluster has signed the token for, nil if it has not.
func (a *Access) admit(from netip.Prefix, signed *Caller) error {
	who, now := fair.Key{Origin: from.String()}, a.config.Clock.Now()
	if signed == nil {
		_, ok := a.budgets.unsigned.Allow(who, now)
		return exceeded(ok, unsigned, "new tokens that are not known to be signed by the cluster", "use a token of a ServiceAccount or a client certificate if this repeats")
	}
	const reuse = "use one token until it expires instead of a new one per call"
	who.Account = signed.Key()
	level, ok := a.budgets.signed.Allow(who, now)
	if level == fair.Account {
		return exceeded(ok, ofAccount, "new tokens of your ServiceAccount", reuse)
	}
	return exceeded(ok, fromNetwork, "new tokens", reuse)
}

// exceeded returns the error for a review that is not ok. tokens are those that have the rate, and
// advice is how to need fewer of them.
func exceeded(ok bool, rate fair.Burst, tokens, advice string) error {
	if ok {
		return nil
	}
	return rpcerror.New(rpcerror.RateLimited,
		fmt.Sprintf("more than %g %s come per second from your network address (%d in a burst); try again in %s, and %s", rate.PerSecond, tokens, rate.Most, newPause, advice),
		&errdetails.RetryInfo{RetryDelay: durationpb.New(newPause)})
}

// networkOf returns the network that a call comes from.
func networkOf(ctx context.Context) netip.Prefix {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return netip.Prefix{}
	}
	return Network(from.Addr)
}

// Network returns the network of an address by which callers are limited that are not known: an
// IPv4 address, or the first 64 bits of an IPv6 address, which its owner cannot choose. All addresses
// other than TCP share one.
func Network(address net.Addr) netip.Prefix {
	tcp, ok := unwrapped(address).(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	prefix, _ := ip.Prefix(min(ip.BitLen(), 64)) // Never fails for this number of bits.
	return prefix
}
