package prometheus

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

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
	return newSource(t, Config{Address: server.URL, most: 1 << 20})
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
		"is only part of the data":  {`{"warnings":["no answer from store-1"],` + matrix(series(point(5)))[1:], "no answer from store-1"},
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

func TestPatience(t *testing.T) {
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { <-ended }))
	t.Cleanup(server.Close)
	defer close(ended)
	source := newSource(t, Config{Address: server.URL, patience: 10 * time.Millisecond})
	if err := source.Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) {}); err == nil || !strings.Contains(err.Error(), "Client.Timeout") {
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
