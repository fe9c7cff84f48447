package prometheus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/workload-resizer/workload-resizer/usage"
)

// answering returns a source whose Prometheus gives the same answer to all queries.
func answering(t *testing.T, answer func(http.ResponseWriter)) *Source {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer(w)
	}))
	t.Cleanup(server.Close)
	return newSource(t, Config{Address: server.URL, MostBytes: 1 << 20})
}

// matrix returns an answer with series.
func matrix(series string) string {
	return `{"status":"success","data":{"resultType":"matrix","result":[` + series + `]}}`
}

// A real Prometheus gives none of these answers. What calls itself one might.
func TestAnswers(t *testing.T) {
	const labels = `"metric":{"namespace":"shop","pod":"web","container":"main"}`
	at := func(minutes int) int64 { return began.Add(time.Duration(minutes) * time.Minute).Unix() }
	point := func(minutes int) string { return fmt.Sprintf(`[%d,"1"]`, at(minutes)) }
	series := func(points ...string) string {
		return `{` + labels + `,"values":[` + strings.Join(points, ",") + `]}`
	}
	for name, test := range map[string]struct{ answer, want string }{
		"has no data":               {`{"status":"success"}`, "without data"},
		"is no answer":              {`{}`, "without data"},
		"has empty data":            {`{"status":"success","data":null}`, "without data"},
		"is a number":               {`{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}`, "a scalar instead of a matrix"},
		"has an empty series":       {matrix(`null`), "a series without values"},
		"has a series of nothing":   {matrix(series()), "a series without values"},
		"has the same series twice": {matrix(series(point(5)) + "," + series(point(5))), "twice"},
		"is not in order":           {matrix(series(point(10), point(5))), "order of time"},
		"has two values of a time":  {matrix(series(point(5), point(5))), "order of time"},
		"is too late":               {matrix(series(point(5), point(65))), "a time that was not asked for"},
		"is too early":              {matrix(series(point(-65), point(5))), "a time that was not asked for"},
	} {
		t.Run("rejects an answer that "+name, func(t *testing.T) {
			source := answering(t, func(w http.ResponseWriter) { _, _ = io.WriteString(w, test.answer) })
			err := source.Read(t.Context(), began, began.Add(time.Hour), func(s usage.Sample) { t.Errorf("%+v", s) })
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("usage: %v", err)
			}
			if _, err := source.Given(t.Context(), began, began.Add(10*time.Hour)); err == nil {
				t.Errorf("what was given: %v", err)
			}
		})
	}
	t.Run("uses an answer with warnings, and says so", func(t *testing.T) {
		warnings := strings.Repeat(`"no answer from store-1",`, 9) + `"` + strings.Repeat("x", 1e5) + `","PromQL info: a hint","2","3","4"`
		source := answering(t, func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"warnings":[`+warnings+`],`+matrix(series(point(60)))[1:])
		})
		n := 0
		err := source.Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) { n++ })
		if !errors.Is(err, usage.ErrIncomplete) || !strings.Contains(err.Error(), "91 warnings") || !strings.Contains(err.Error(), "no answer from store-1") || len(err.Error()) > 3*longest || n != 2 {
			t.Errorf("%d samples: %v", n, err)
		}
		given, err := source.Given(t.Context(), began, began.Add(10*time.Hour))
		if !errors.Is(err, usage.ErrIncomplete) || given == nil {
			t.Errorf("what was given: %v", err)
		}
	})
	for name, test := range map[string]struct {
		fields     string
		incomplete bool
	}{
		"is partial":                      {`"isPartial":true,`, true},
		"is partial, with other fields":   {`"stats":{"isPartial":false,"seriesFetched":"3"},"isPartial": true,`, true},
		"is not partial":                  {`"isPartial":false,`, false},
		"has series that are named so":    {`"stats":{"isPartial":true},`, false},
		"has partial as something else":   {`"isPartial":"yes",`, false},
		"has a warning that has the name": {`"infos":["isPartial"],`, false},
	} {
		t.Run("uses an answer that "+name, func(t *testing.T) {
			source := answering(t, func(w http.ResponseWriter) {
				_, _ = io.WriteString(w, `{`+test.fields+matrix(series(point(60)))[1:])
			})
			n := 0
			err := source.Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) { n++ })
			if errors.Is(err, usage.ErrIncomplete) != test.incomplete || n != 2 || test.incomplete && !strings.Contains(err.Error(), "isPartial") {
				t.Errorf("%d samples: %v", n, err)
			}
			_, err = source.Given(t.Context(), began, began.Add(10*time.Hour))
			if errors.Is(err, usage.ErrIncomplete) != test.incomplete {
				t.Errorf("what was given: %v", err)
			}
		})
	}
	t.Run("finds isPartial after the series", func(t *testing.T) {
		if body := strings.TrimSuffix(matrix(series(point(5))), "}") + `,"isPartial":true}`; !partial([]byte(body)) {
			t.Error(body)
		}
	})
	t.Run("takes no hint for a warning", func(t *testing.T) {
		source := answering(t, func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"warnings":["PromQL info: metric might not be a counter"],"infos":["PromQL info: x"],`+matrix(series(point(5)))[1:])
		})
		if err := source.Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) {}); err != nil {
			t.Error(err)
		}
	})
	t.Run("rejects an answer that does not end", func(t *testing.T) {
		source := answering(t, func(w http.ResponseWriter) {
			block := []byte(strings.Repeat(" ", 100_000))
			for {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		})
		err := source.Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) {})
		if err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
			t.Error(err)
		}
	})
}

func TestRedirects(t *testing.T) {
	request := func(address string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, tc := range []struct {
		from, to string
		allowed  bool
	}{
		{"https://host", "https://host/api", true},
		{"http://host", "https://host:8443", true},
		{"https://host", "https://other", false},
		{"https://host", "http://host", false}, // The password would not be encrypted.
	} {
		if err := sameHost(request(tc.to), []*http.Request{request(tc.from)}); (err == nil) != tc.allowed {
			t.Errorf("from %s to %s: %v", tc.from, tc.to, err)
		}
	}
}

func TestPatience(t *testing.T) {
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { <-ended }))
	t.Cleanup(server.Close)
	defer close(ended)
	source := newSource(t, Config{Address: server.URL, patience: 10 * time.Millisecond})
	if err := source.Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestNewest(t *testing.T) {
	var last time.Time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seconds, err := strconv.ParseFloat(r.FormValue("end"), 64)
		if err != nil {
			t.Error(err)
		}
		if end := time.Unix(int64(seconds), 0); end.After(last) {
			last = end
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, matrix(""))
	}))
	t.Cleanup(server.Close)
	const interval = 5 * time.Minute
	source := newSource(t, Config{Address: server.URL, Interval: interval})
	before := time.Now().Add(-interval / 5).Truncate(interval)
	if err := source.Read(t.Context(), before.Add(-time.Hour), time.Now().Add(time.Hour), func(usage.Sample) {}); err != nil {
		t.Fatal(err)
	}
	after := time.Now().Add(-interval / 5).Truncate(interval)
	if last.Before(before) || last.After(after) {
		t.Errorf("the newest interval ends at %v, want %v to %v", last, before, after)
	}
}

// Of 150,000 containers, an answer has as many series, and there are six answers in each read.
func TestCheckIsCheap(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	var matrix model.Matrix
	for i := range 2000 {
		matrix = append(matrix, &model.SampleStream{
			Metric: model.Metric{"namespace": "shop", "container": "main", "pod": model.LabelValue(fmt.Sprint("web-", i*7919%2000))},
			Values: []model.SamplePair{{Timestamp: model.TimeFromUnix(at.Unix()), Value: 1}},
		})
	}
	allocations := testing.AllocsPerRun(1, func() {
		if _, err := check(slices.Clone(matrix), promv1.Range{Start: at, End: at}); err != nil {
			t.Fatal(err)
		}
	})
	if allocations > 20*2000 {
		t.Errorf("%v allocations for 2,000 series", allocations)
	}
}
