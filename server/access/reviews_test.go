package access

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	authenticationv1 "k8s.io/api/authentication/v1"
)

var (
	here  = &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 1}
	there = &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 1}
)

// flood makes calls with made-up tokens until one is not reviewed.
func flood(t *testing.T, a *Access, name string, address net.Addr) (asked int, err error) {
	t.Helper()
	for asked = range 10 * fromNetwork.Most {
		_, err := a.authenticate(from(t.Context(), address, fmt.Sprint(name, asked)))
		if status.Code(err) == codes.ResourceExhausted {
			return asked, err
		}
		checkError(t, err, codes.Unauthenticated, "CREDENTIALS_INVALID")
	}
	t.Fatal("all tokens of a flood were reviewed")
	return 0, nil
}

// separate returns an Access that reviews renewals with a separate client. Only tokens that
// begin with "good" are valid.
func separate(t *testing.T) (a *Access, first, renewals *answers, pass func(time.Duration)) {
	t.Helper()
	first = &answers{tokens: func(ctx context.Context, token string) (authenticationv1.TokenReviewStatus, error) {
		if len(token) > 4 && token[:4] == "good" {
			return good(ctx, token)
		}
		return authenticationv1.TokenReviewStatus{}, nil
	}}
	renewals = &answers{tokens: first.tokens}
	a, clock := asking(first)
	a.config.Renewals = tokenReviews{renewals}
	return a, first, renewals, func(d time.Duration) { clock.SetTime(clock.Now().Add(d)) }
}

func TestReviews(t *testing.T) {
	t.Run("limits bad tokens by the address that they come from", limitsBadTokensByTheAddressThatTheyComeFrom)
	t.Run("a refused token learns which limit, and what to do", aRefusedTokenLearnsWhichLimitAndWhatToDo)
	t.Run("a token that was good does not wait behind a flood", aTokenThatWasGoodDoesNotWaitBehindAFlood)
	t.Run("a token that is no longer good has no priority", aTokenThatIsNoLongerGoodHasNoPriority)
}

func limitsBadTokensByTheAddressThatTheyComeFrom(t *testing.T) {
	a, first, _, pass := separate(t)
	asked, err := flood(t, a, "a", here)
	if asked != unsigned.Most || first.tokensAsked.Load() != int64(unsigned.Most) {
		t.Errorf("%d were reviewed, want %d", asked, unsigned.Most)
	}
	checkError(t, err, codes.ResourceExhausted, "RATE_LIMITED")
	retry := false
	for _, d := range status.Convert(err).Details() {
		if info, ok := d.(*errdetails.RetryInfo); ok {
			retry = info.GetRetryDelay().AsDuration() == newPause
		}
	}
	if !retry {
		t.Errorf("%v does not state when to try again", err)
	}
	if _, err := a.authenticate(from(t.Context(), there, "good one")); err != nil {
		t.Errorf("another address: %v", err)
	}
	if networkOf(from(t.Context(), counted{here}, "")) != networkOf(from(t.Context(), here, "")) {
		t.Error("the address of a counted connection is another network")
	}
	pass(time.Second)
	if asked, _ := flood(t, a, "b", here); asked != int(unsigned.PerSecond) {
		t.Errorf("%d more were reviewed in a second, want %d", asked, int(unsigned.PerSecond))
	}
}

func aRefusedTokenLearnsWhichLimitAndWhatToDo(t *testing.T) {
	for _, tc := range []struct {
		name   string
		signed func(n int) *Caller
		want   string
	}{
		{"of one account", func(int) *Caller { return &Caller{Name: "system:serviceaccount:shop:ann"} },
			"more than 5 new tokens of your ServiceAccount come per second from your network address (30 in a burst); try again in 1s, and use one token until it expires"},
		{"of many accounts", func(n int) *Caller { return &Caller{Name: fmt.Sprint("system:serviceaccount:shop:", n)} },
			"more than 20 new tokens come per second from your network address (300 in a burst); try again in 1s, and use one token until it expires"},
		{"that may be made up", func(int) *Caller { return nil },
			"more than 5 new tokens that are not known to be signed by the cluster come per second from your network address (50 in a burst); try again in 1s, and use a token of a ServiceAccount or a client certificate"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, _, _, _ := separate(t)
			var err error
			for n := 0; err == nil && n <= fromNetwork.Most; n++ {
				err = a.admit(Network(here), tc.signed(n))
			}
			checkError(t, err, codes.ResourceExhausted, "RATE_LIMITED")
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func aTokenThatWasGoodDoesNotWaitBehindAFlood(t *testing.T) {
	a, first, renewals, pass := separate(t)
	token := from(t.Context(), here, "good one")
	if _, err := a.authenticate(token); err != nil {
		t.Fatal(err)
	}
	_, _ = flood(t, a, "a", here)
	before := first.tokensAsked.Load()
	for i := range int64(20) { // It stays so as long as it is used.
		pass(time.Minute)
		_, _ = flood(t, a, fmt.Sprint(i, " "), here)
		if _, err := a.authenticate(token); err != nil || renewals.tokensAsked.Load() != i+1 {
			t.Fatalf("%v, %d renewals, want %d", err, renewals.tokensAsked.Load(), i+1)
		}
	}
	if first.tokensAsked.Load() == before {
		t.Error("no token of the flood was reviewed")
	}
	pass(provenFor + time.Second)
	_, _ = flood(t, a, "b", here)
	_, err := a.authenticate(token)
	checkError(t, err, codes.ResourceExhausted, "RATE_LIMITED")
}

func aTokenThatIsNoLongerGoodHasNoPriority(t *testing.T) {
	a, first, renewals, pass := separate(t)
	token := from(t.Context(), here, "good one")
	if _, err := a.authenticate(token); err != nil {
		t.Fatal(err)
	}
	renewals.tokens = func(context.Context, string) (authenticationv1.TokenReviewStatus, error) {
		return authenticationv1.TokenReviewStatus{}, nil
	}
	pass(time.Minute)
	_, err := a.authenticate(token)
	checkError(t, err, codes.Unauthenticated, "CREDENTIALS_INVALID")
	pass(time.Minute)
	if _, err := a.authenticate(token); err != nil || first.tokensAsked.Load() != 2 || renewals.tokensAsked.Load() != 1 {
		t.Errorf("%v, %d reviews and %d renewals", err, first.tokensAsked.Load(), renewals.tokensAsked.Load())
	}
}

func TestNetwork(t *testing.T) {
	tcp := func(address string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(address), Port: 1} }
	for name, tc := range map[string]struct {
		address net.Addr
		want    string
	}{
		"an IPv4 address is one":                              {tcp("10.1.2.3"), "10.1.2.3/32"},
		"an IPv4 address mapped to IPv6 is the same":          {tcp("::ffff:10.1.2.3"), "10.1.2.3/32"},
		"an IPv6 network is one":                              {tcp("2001:db8::1:2:3:4"), "2001:db8::/64"},
		"a link-local network is one":                         {&net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "eth0"}, "fe80::/64"},
		"a Unix socket shares one with all others":            {&net.UnixAddr{Name: "@"}, "invalid Prefix"},
		"a call without an origin shares one with all others": {nil, "invalid Prefix"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if tc.address != nil {
				ctx = peer.NewContext(ctx, &peer.Peer{Addr: tc.address})
			}
			if got := networkOf(ctx).String(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// counted is the address of a connection that a listener counts.
type counted struct{ net.Addr }

func (c counted) Unwrap() net.Addr { return c.Addr }
