package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

const (
	// patienceForBusy is how long a query is sent again to a Prometheus that is busy. It is about as long as the shortest
	// interval in which a server reads, so that the state of the source is not much older than that.
	patienceForBusy = time.Minute
	// leastPause is the time between two attempts at least, and mostPause at most, unless the Prometheus says when to
	// come back.
	leastPause, mostPause = time.Second, 15 * time.Second
)

// errBusy means that a Prometheus answered, and is too busy for the query.
var errBusy = errors.New("busy")

// sendPatiently sends a query, and again while the Prometheus, or a proxy in front of it, is busy. A Prometheus that
// cannot be reached is not busy: the address may be wrong.
func (a *answers) sendPatiently(ctx context.Context, r *http.Request) (*http.Response, []byte, error) {
	type answer struct {
		response *http.Response
		body     []byte
	}
	attempt := func() (answer, error) {
		sent := r.Clone(ctx)
		if r.GetBody != nil {
			var err error
			if sent.Body, err = r.GetBody(); err != nil {
				return answer{}, backoff.Permanent(err)
			}
		}
		response, body, err := a.client.Do(ctx, sent)
		switch {
		case err != nil:
			return answer{}, backoff.Permanent(err)
		case isBusy(response.StatusCode, body):
			return answer{response, body}, pause(response.Header.Get("Retry-After"))
		}
		return answer{response, body}, nil
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.Multiplier, pauses.MaxInterval = leastPause, 2, mostPause
	last, err := backoff.Retry(ctx, attempt, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(patienceForBusy))
	if later := (*backoff.RetryAfterError)(nil); errors.Is(err, errBusy) || errors.As(err, &later) {
		err = nil // The answer says more.
	}
	return last.response, last.body, err
}

// isBusy reports whether an answer means that the same query may succeed soon. A query that took too long would do so
// again.
func isBusy(status int, body []byte) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable:
		var answer struct {
			ErrorType promv1.ErrorType `json:"errorType"`
		}
		return json.Unmarshal(body, &answer) != nil || answer.ErrorType != promv1.ErrTimeout
	}
	return false
}

// tooLong is longer than a query is ever sent again. Of a time in the year 9999, the rest plus what
// has passed would overflow.
const tooLong = 2 * patienceForBusy

// pause returns the error that makes the next attempt wait as long as the header Retry-After says.
func pause(header string) error {
	seconds, err := strconv.Atoi(header)
	wait := time.Duration(min(seconds, int(tooLong/time.Second))) * time.Second
	if err != nil {
		at, err := http.ParseTime(header)
		if err != nil {
			return errBusy
		}
		wait = time.Until(at)
	}
	return &backoff.RetryAfterError{Duration: min(max(wait, leastPause), tooLong)}
}
