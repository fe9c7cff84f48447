package prometheus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// vectorOf returns the vector of a query.
func vectorOf(t *testing.T, source *Source, query string, at time.Time) (all []Element, err error) {
	t.Helper()
	err = source.Vector(t.Context(), query, at, func(e Element) { all = append(all, e) })
	return all, err
}

func TestVector(t *testing.T) {
	address, _ := localcluster.RecordedPrometheusForTest(t, recorded())
	source := newSource(t, Config{Address: address})
	t.Run("has the elements of a time", func(t *testing.T) {
		const query = `max by (namespace, pod) (container_memory_working_set_bytes{container="main"})`
		for at, want := range map[time.Time][]Element{began: {{Namespace: "shop", Pod: "web", Value: 5e7}}, began.Add(time.Hour): nil} {
			if got, err := vectorOf(t, source, query, at); err != nil || !slices.Equal(got, want) {
				t.Errorf("at %v: %v, %v", at, got, err)
			}
		}
	})
	for query, want := range map[string]string{"1": "a scalar instead of a vector", `"x"`: "a string instead of a vector", "up[1m]": "a matrix instead of a vector", "sum(": "parse error", "rate(up)": "expected type range vector"} {
		t.Run("is an error for the query "+query, func(t *testing.T) {
			if got, err := vectorOf(t, source, query, began); err == nil || !strings.Contains(err.Error(), want) || got != nil {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	const web = `{"metric":{"namespace":"shop","pod":"web"},"value":[1,"0.5"]}`
	vector := func(elements string) string {
		return `{"status":"success","data":{"resultType":"vector","result":[` + elements + `]}}`
	}
	one := []Element{{Namespace: "shop", Pod: "web", Value: 0.5}}
	answered := func(t *testing.T, body string) ([]Element, error) {
		return vectorOf(t, answering(t, func(w http.ResponseWriter) { _, _ = io.WriteString(w, body) }), "up", began)
	}
	for name, tc := range map[string]struct {
		body string
		want []Element
	}{
		"no elements":                    {vector(``), nil},
		"null instead of elements":       {`{"data":{"resultType":"vector","result":null}}`, nil},
		"its kind after the elements":    {`{"data":{"result":[` + web + `],"resultType":"vector"},"status":"success"}`, one},
		"null as an element":             {vector(`null,` + web + `,null`), one},
		"a histogram":                    {vector(web + `,{"metric":{"pod":"h"},"histogram":[1,{"count":"1","sum":"2","buckets":[]}]}`), one},
		"an element without labels":      {vector(web + `,{"metric":{},"value":[1,"2"]},{"value":[1,"3"]}`), append(slices.Clone(one), Element{Value: 2}, Element{Value: 3})},
		"labels in other cases":          {vector(`{"metric":{"Namespace":"a","namespace":"shop","POD":"b","pod":"web","Pod":"c","WorkLoad":"d"},"value":[1,"0.5"]}`), one},
		"an infinite value":              {vector(`{"metric":{"workload":"web"},"value":[1,"+Inf"]}`), []Element{{Workload: "web", Value: math.Inf(1)}}},
		"an escaped label":               {vector(strings.ReplaceAll(web, `"web"`, `"w\u0065b"`)), one},
		"fields that nobody knows":       {`{"stats":{"data":[1]},` + strings.Replace(vector(web), `"result":`, `"more":{"result":[1]},"result":`, 1)[1:], one},
		"hints that say nothing of gaps": {`{"warnings":["PromQL info: x"],"isPartial":false,` + vector(web)[1:], one},
	} {
		t.Run("takes an answer with "+name, func(t *testing.T) {
			if got, err := answered(t, tc.body); err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	for name, tc := range map[string]struct{ body, want string }{
		// A pod that is missing would look as if it met its objective.
		"has a warning":                      {`{"status":"success","warnings":["no answer from store-1"],` + vector(web)[1:], "store-1"},
		"has a warning after the elements":   {strings.TrimSuffix(vector(web), "}") + `,"warnings":["no answer from store-1"]}`, "store-1"},
		"is partial":                         {`{"status":"success","isPartial":true,` + vector(web)[1:], "isPartial"},
		"is partial, it says at its end":     {strings.TrimSuffix(vector(web), "}") + `,"isPartial":true}`, "isPartial"},
		"is an error":                        {`{"status":"error","errorType":"execution","error":"too many samples"}`, "too many samples"},
		"is an error after elements":         {strings.TrimSuffix(vector(web), "}") + `,"status":"error","errorType":"execution","error":"too many samples"}`, "too many samples"},
		"is cut within an element":           {vector(web)[:90], "unexpected EOF"},
		"is cut after an element":            {strings.TrimSuffix(vector(web), "]}}"), "unexpected EOF"},
		"is cut after the elements":          {strings.TrimSuffix(vector(web), "}}"), "unexpected EOF"},
		"is cut before its end":              {strings.TrimSuffix(vector(web), "}"), "unexpected EOF"},
		"is empty":                           {"", "unexpected EOF"},
		"is followed by another":             {vector(web) + vector(web), "something follows it"},
		"is followed by no JSON":             {vector(web) + "}", "invalid character"},
		"is a page":                          {"<html>", "invalid character '<'"},
		"is a list":                          {"[" + vector(web) + "]", "has [ instead of {"},
		"has no data":                        {`{"status":"success"}`, "nothing instead of a vector"},
		"has empty data":                     {`{"status":"success","data":null}`, "nothing instead of a vector"},
		"is null":                            {"null", "nothing instead of a vector"},
		"has an object instead of elements":  {`{"data":{"resultType":"vector","result":{}}}`, "has { instead of ["},
		"has a number for an element":        {vector(web + ",1"), "cannot unmarshal number"},
		"has a number for a label":           {vector(`{"metric":{"pod":1},"value":[1,"1"]}`), "cannot unmarshal number"},
		"has a number for a value":           {vector(`{"metric":{"pod":"web"},"value":[1,1]}`), "quoted string"},
		"has a value that is no number":      {vector(`{"metric":{"pod":"web"},"value":[1,"x"]}`), "invalid syntax"},
		"has an element that is nested deep": {vector(strings.Repeat("[", 20_000)), "exceeded max depth"},
		"has a long name of its kind":        {`{"data":{"resultType":"` + strings.Repeat("x", 9*longest) + `","result":[]}}`, "xxx…"},
	} {
		t.Run("is an error if the answer "+name, func(t *testing.T) {
			if got, err := answered(t, tc.body); err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 2*longest {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	t.Run("is an error if the answer is larger than allowed", func(t *testing.T) {
		for _, block := range []string{" ", web + ",", `{"metric":{},"value":[1,"1"],"x":"` + strings.Repeat("x", 2<<20)} {
			source := answering(t, func(w http.ResponseWriter) {
				for _, err := io.WriteString(w, strings.TrimSuffix(vector(""), "]}}")); err == nil; {
					_, err = io.WriteString(w, strings.Repeat(block, 1000))
				}
			})
			if _, err := vectorOf(t, source, "up", began); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
				t.Error(err)
			}
		}
	})
	t.Run("is an error if the connection ends early", func(t *testing.T) {
		source := answering(t, func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, vector(web))
		})
		if _, err := vectorOf(t, source, "up", began); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
	t.Run("is asked with GET where POST is not allowed", func(t *testing.T) {
		for status, want := range map[int]bool{http.StatusMethodNotAllowed: true, http.StatusForbidden: true, http.StatusBadRequest: false} {
			source := newSource(t, Config{Address: "http://host", transport: transportFunc(func(r *http.Request) (*http.Response, error) {
				response := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("refused"))}
				if r.Method == http.MethodGet && r.URL.Query().Get("query") == "up" {
					response.StatusCode, response.Body = http.StatusOK, io.NopCloser(strings.NewReader(vector(web)))
				}
				return response, nil
			})})
			got, err := vectorOf(t, source, "up", began)
			if (err == nil) != want || want && !slices.Equal(got, one) {
				t.Errorf("%d: %v, %v", status, got, err)
			}
		}
	})
	t.Run("shows the elements while the answer arrives", func(t *testing.T) {
		taken := make(chan Element, 1)
		source := answering(t, func(w http.ResponseWriter) {
			_, _ = fmt.Fprint(w, strings.TrimSuffix(vector(web), "]}}"), ",")
			w.(http.Flusher).Flush()
			<-taken
			_, _ = io.WriteString(w, web+"]}}")
		})
		defer close(taken)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		n := 0
		err := source.Vector(ctx, "up", began, func(e Element) {
			if n++; n == 1 {
				taken <- e
			}
		})
		if err != nil || n != 2 {
			t.Errorf("%d elements, %v", n, err)
		}
	})
}

// transportFunc is a transport that is a function.
type transportFunc func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
