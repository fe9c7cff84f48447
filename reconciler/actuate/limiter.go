package actuate

import "k8s.io/client-go/util/flowcontrol"

// NewLimiter returns a limiter that allows qps requests per second on average, in bursts
// of at most burst requests; a qps of 0 means no limit.
func NewLimiter(qps float32, burst int) flowcontrol.RateLimiter {
	if qps <= 0 {
		return flowcontrol.NewFakeAlwaysRateLimiter()
	}
	return flowcontrol.NewTokenBucketRateLimiter(qps, burst)
}
