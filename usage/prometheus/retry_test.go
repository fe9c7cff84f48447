package prometheus

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workload-resizer/workload-resizer/usage"
)

// scripted answers the first requests as written, and all others with nothing. It is a Prometheus without a network, so
// that time passes only while nothing else happens.
type scripted struct {
	answers []answer
	asked   []time.Time
}

type answer struct {
	status     int
	retryAfter string
	body       string
}

func (s *scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), "query=") {
		return nil, errors.New("a request without its query")
	}
	next := answer{status: http.StatusOK, body: matrix("")}
	if n := len(s.asked); n < len(s.answers) {
		next = s.answers[n]
	}
	s.asked = append(s.asked, time.Now())
	response := &http.Response{StatusCode: next.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(next.body)), Request: r}
	if next.retryAfter != "" {
		response.Header.Set("Retry-After", next.retryAfter)
	}
	return response, nil
}

func TestBusy(t *testing.T) {
	repeat := func(n int, a answer) (all []answer) {
		for range n {
			all = append(all, a)
		}
		return all
	}
	read := func(ctx context.Context, s *Source) error {
		now := time.Now().Truncate(time.Hour)
		return s.Read(ctx, now.Add(-2*time.Hour), now.Add(-time.Hour), func(usage.Sample) {})
	}
	for name, test := range map[string]struct {
		answers []answer
		// attempts is how often the first query is sent, if that is known, and pause how long at least before the second time.
		attempts int
		pause    time.Duration
		want     string
	}{
		"again after an overload":                    {repeat(1, answer{503, "", "upstream connect error"}), 2, leastPause / 2, ""},
		"again after a bad gateway":                  {repeat(2, answer{502, "", "<html>"}), 3, leastPause / 2, ""},
		"again after too many, when it was told":     {repeat(1, answer{429, "20", `{"status":"error","errorType":"too_many_requests","error":"later"}`}), 2, 20 * time.Second, ""},
		"again at a time that it was told":           {repeat(1, answer{429, time.Date(2000, 1, 1, 0, 0, 20, 0, time.UTC).Format(http.TimeFormat), ""}), 2, 20 * time.Second, ""},
		"not immediately, even if it was told so":    {repeat(1, answer{503, "0", ""}), 2, leastPause, ""},
		"not after an hour":                          {repeat(1, answer{429, "3600", `{"status":"error","errorType":"x","error":"too many"}`}), 1, 0, "client error: 429"},
		"not in the year 9999":                       {[]answer{{503, "", ""}, {429, time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Format(http.TimeFormat), "too many"}}, 2, 0, "client error: 429"},
		"no query again that took too long":          {repeat(1, answer{503, "", `{"status":"error","errorType":"timeout","error":"query timed out"}`}), 1, 0, "server error: 503"},
		"no query again that is wrong":               {repeat(1, answer{400, "", `{"status":"error","errorType":"bad_data","error":"no"}`}), 1, 0, "bad_data: no"},
		"no query again without rights":              {repeat(1, answer{401, "", "who are you"}), 1, 0, "401"},
		"until the time for that is over, and fails": {repeat(1000, answer{503, "", "overloaded"}), 0, leastPause / 2, "503"},
	} {
		t.Run("asks "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &scripted{answers: test.answers}
				source := newSource(t, Config{Address: "http://host", transport: server})
				start := time.Now()
				err := read(t.Context(), source)
				if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("%v, want %q", err, test.want)
				}
				asked := len(server.asked)
				if test.want == "" {
					asked -= queriesOfUsage - 1
				}
				if test.attempts > 0 && asked != test.attempts || test.attempts == 0 && (asked < 5 || asked > 10) {
					t.Errorf("the first query was sent %d times", asked)
				}
				if asked > 1 {
					if pause := server.asked[1].Sub(server.asked[0]); pause < test.pause {
						t.Errorf("sent again after %v, want %v", pause, test.pause)
					}
				}
				if took := time.Since(start); took > patienceForBusy {
					t.Errorf("took %v", took)
				}
			})
		})
	}
	t.Run("does not ask again when nobody waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			source := newSource(t, Config{Address: "http://host", transport: &scripted{answers: repeat(1000, answer{503, "", ""})}})
			start := time.Now()
			if err := read(ctx, source); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		})
	})
	t.Run("asks once for a vector", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server := &scripted{answers: repeat(1, answer{503, "", "overloaded"})}
			source := newSource(t, Config{Address: "http://host", transport: server})
			if err := source.Vector(t.Context(), "up", began, nil); err == nil || len(server.asked) != 1 {
				t.Errorf("asked %d times: %v", len(server.asked), err)
			}
		})
	})
}
