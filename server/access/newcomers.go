package access

import (
	"context"
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
	// newPerSecond is how many tokens from one place are asked about per second,
	// and newBurst in one go, of those that were not good a while ago. A proxy is
	// one place for all behind it: after a restart of the server, hundreds of
	// programs come at once, and one token each is enough for ten minutes.
	newPerSecond = 20
	newBurst     = 300
	// newPause is how long to wait before a token is tried again.
	newPause = time.Second
	// places bounds what is remembered of where tokens come from.
	places = 4096
)

// newcomers bounds the questions about tokens that may be made up.
type newcomers struct {
	clock clock.PassiveClock
	// limiters are by netip.Prefix.
	limiters *lru.Cache
}

func newNewcomers(clock clock.PassiveClock) *newcomers {
	return &newcomers{clock, lru.New(places)}
}

// admit takes a question about a token of the call of ctx into account, or says
// why it is not asked now.
func (n *newcomers) admit(ctx context.Context) error {
	from := place(ctx)
	limiter, ok := n.limiters.Get(from)
	if !ok {
		// Two first calls at once may each make one: the later counts.
		limiter = rate.NewLimiter(newPerSecond, newBurst)
		n.limiters.Add(from, limiter)
	}
	if limiter.(*rate.Limiter).AllowN(n.clock.Now(), 1) {
		return nil
	}
	return rpcerror.New(rpcerror.RateLimited,
		"too many tokens that are not known here come from where this one does; try again in "+newPause.String(),
		&errdetails.RetryInfo{RetryDelay: durationpb.New(newPause)})
}

// place is where a call comes from: an IPv4 address, or the 64 bits of an IPv6
// address that its owner cannot choose. All that is not TCP is one place.
func place(ctx context.Context) netip.Prefix {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return netip.Prefix{}
	}
	tcp, ok := from.Addr.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	address := tcp.AddrPort().Addr().Unmap().WithZone("")
	prefix, _ := address.Prefix(min(address.BitLen(), 64)) // It fails for no such number.
	return prefix
}
