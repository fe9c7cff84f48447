package actuate

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// ClientConfig returns the configuration of a client to write pods with: each
// write is bounded in time, and nothing is waited for inside of a write, as
// client-go would: neither a server that asks to be let be, or a worker would do
// nothing else, nor the rate of requests (Config.Limiter), or a write could begin long
// after it was permitted.
func ClientConfig(config *rest.Config, timeout time.Duration) *rest.Config {
	config = rest.CopyConfig(config)
	config.Timeout = timeout
	config.QPS, config.RateLimiter = -1, nil
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return impatient{next} })
	return config
}

// impatient takes the Retry-After out of answers, which keeps client-go from
// waiting, and passes it on to who asked.
type impatient struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (i impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := i.next.RoundTrip(r)
	if err != nil {
		return response, err
	}
	if after := response.Header.Get("Retry-After"); after != "" {
		response.Header.Del("Retry-After")
		asked, ok := r.Context().Value(askedKey{}).(*time.Duration)
		if seconds, err := strconv.Atoi(after); ok && err == nil && seconds > 0 {
			*asked = min(time.Duration(seconds)*time.Second, longestAsked)
		}
	}
	return response, nil
}

// longestAsked is the longest time that a server is believed to want to be let be for.
const longestAsked = 5 * time.Minute

// askedKey is the key of a context's *time.Duration that becomes how long the
// server asks to be let be.
type askedKey struct{}

func withAsked(ctx context.Context, asked *time.Duration) context.Context {
	return context.WithValue(ctx, askedKey{}, asked)
}
