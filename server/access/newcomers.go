package access

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/types/known/durationpb"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

const (
	// newPerSecond is how many tokens that were not recently good are reviewed per second and
	// place, and newBurst how many in a burst. A proxy is one place for all callers behind it:
	// after a restart of the server, hundreds of programs connect at the same time, and one review per
	// token is enough for ten minutes.
	newPerSecond = 20
	newBurst     = 300
	// opaquePerSecond and opaqueBurst are the same for tokens that the cluster may not have
	// signed.
	opaquePerSecond = 5
	opaqueBurst     = 50
	// accountPerSecond and accountBurst are the same for tokens that the cluster has signed for
	// one account: a caller who may create its tokens can create any number of them.
	accountPerSecond = 5
	accountBurst     = 30
	// newPause is how long a caller should wait before it tries a token again.
	newPause = time.Second
	// places is the maximum number of places that are remembered.
	places = 4096
)

// newcomers limits the reviews of tokens that were not recently good, by place.
type newcomers struct {
	clock     clock.PassiveClock
	perSecond rate.Limit
	burst     int
	// tokens describes the tokens that are limited, and advice says how to need fewer of them.
	tokens, advice string
	// limiters has the limiters by origin.
	limiters *lru.Cache
}

func newNewcomers(clock clock.PassiveClock, perSecond rate.Limit, burst int, tokens, advice string) *newcomers {
	return &newcomers{clock, perSecond, burst, tokens, advice, lru.New(places)}
}

// origin is what reviews of unknown tokens are counted by.
type origin struct {
	place netip.Prefix
	// account is the key of the caller; empty if it does not matter.
	account string
}

// admit counts a review of a token, or returns why it must not be made now.
func (n *newcomers) admit(from origin) error {
	limiter, ok := n.limiters.Get(from)
	if !ok {
		// Concurrent first calls may each create a limiter: the last one counts.
		limiter = rate.NewLimiter(n.perSecond, n.burst)
		n.limiters.Add(from, limiter)
	}
	if limiter.(*rate.Limiter).AllowN(n.clock.Now(), 1) {
		return nil
	}
	return rpcerror.New(rpcerror.RateLimited,
		fmt.Sprintf("more than %g %s come per second from your network address (%d in a burst); try again in %s, and %s", n.perSecond, n.tokens, n.burst, newPause, n.advice),
		&errdetails.RetryInfo{RetryDelay: durationpb.New(newPause)})
}

// place returns where a call comes from.
func place(ctx context.Context) netip.Prefix {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return netip.Prefix{}
	}
	return Place(from.Addr)
}

// Place returns the place of an address: an IPv4 address, or the first 64 bits of an IPv6
// address, which its owner cannot choose. All addresses other than TCP share one place.
func Place(address net.Addr) netip.Prefix {
	tcp, ok := unwrapped(address).(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	prefix, _ := ip.Prefix(min(ip.BitLen(), 64)) // Never fails for this number of bits.
	return prefix
}
