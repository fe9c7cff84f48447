package fetch

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

const (
	// firstPause is the delay before the first try.
	firstPause = time.Second
	// maxRetryAfter limits how long a server can make the poller wait.
	maxRetryAfter = 24 * time.Hour
)

// pause returns the delay after a try: the interval, or less after the first failures,
// but at least the delay that the server requests.
func (f *polled) pause(err error) time.Duration {
	pause := f.feed.interval()
	if err != nil {
		// The shift is limited so that it cannot overflow.
		pause = min(MinInterval<<min(f.failures-1, 20), pause)
	}
	if busy, ok := errors.AsType[*busyError](err); ok {
		pause = max(pause, min(busy.retryAfter, maxRetryAfter))
	}
	return f.poller.jitter(pause, 0.1)
}

// busyError means that a server requests a delay.
type busyError struct {
	status     string
	retryAfter time.Duration
}

func (e *busyError) Error() string {
	return "the server responded with " + e.status + ", and requested to wait " + e.retryAfter.Round(time.Second).String()
}

// retryAfter parses a Retry-After header: seconds or a time. It returns 0 for any other value.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if t, err := http.ParseTime(header); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
