package actuate

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// ClientConfig returns the configuration of a client that writes pods. Each write has a
// timeout. Unlike the defaults of client-go, the client never waits inside a write:
//
//   - It does not wait for a Retry-After of the API server, which would block a worker.
//   - It does not wait for a rate limit (see Config.Limiter), after which a write could
//     begin long after it was permitted.
func ClientConfig(config *rest.Config, timeout time.Duration) *rest.Config {
	config = rest.CopyConfig(config)
	config.Timeout = timeout
	config.QPS, config.RateLimiter = -1, nil
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return impatient{next} })
	return config
}

// impatient removes the Retry-After header from responses, so that client-go does not
// wait, and passes its value to the caller.
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
			*asked = time.Duration(min(seconds, longestAsked)) * time.Second
		}
	}
	return response, nil
}

// longestAsked is the longest Retry-After that is respected, in seconds.
const longestAsked = 5 * 60

// askedKey is the context key of a *time.Duration that receives the Retry-After of the
// API server.
type askedKey struct{}

func withAsked(ctx context.Context, asked *time.Duration) context.Context {
	return context.WithValue(ctx, askedKey{}, asked)
}
