package actuate

import "k8s.io/client-go/util/flowcontrol"

// NewLimiter returns a limiter that lets qps requests per second through on
// average, and burst in one go; a qps of 0 lets all through.
func NewLimiter(qps float32, burst int) flowcontrol.RateLimiter {
	if qps <= 0 {
		return flowcontrol.NewFakeAlwaysRateLimiter()
	}
	return flowcontrol.NewTokenBucketRateLimiter(qps, burst)
}
