package fetch

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

const (
	// firstPause is before the first try.
	firstPause = time.Second
	// maxRetryAfter is how long a server can have us wait.
	maxRetryAfter = 24 * time.Hour
)

// pause is how long to wait after a try: the interval, or after failures less at
// first, but what a server asks for.
func (f *polled) pause(err error) time.Duration {
	pause := f.feed.interval()
	if err != nil {
		// The shift is bounded so that it cannot overflow.
		pause = min(MinInterval<<min(f.failures-1, 20), pause)
	}
	if busy, ok := errors.AsType[*busyError](err); ok {
		pause = max(pause, min(busy.retryAfter, maxRetryAfter))
	}
	return f.poller.jitter(pause, 0.1)
}

// busyError tells that a server asks to be left alone for a while.
type busyError struct {
	status     string
	retryAfter time.Duration
}

func (e *busyError) Error() string {
	return "the server answers " + e.status + ", and asks to wait " + e.retryAfter.Round(time.Second).String()
}

// retryAfter reads the header of that name: seconds or a time; 0 if it is neither.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if t, err := http.ParseTime(header); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
