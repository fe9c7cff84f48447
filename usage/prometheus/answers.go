package prometheus

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/workload-resizer/workload-resizer/usage"
)

// answers is one read of a Prometheus. It is also the client that the queries of the read are sent with, since
// promv1 passes on only a part of an answer.
type answers struct {
	*Source
	api promv1.API
	// vector is what the read is for if it is not for ranges.
	vector *vector
	// queries is how many queries the read has, and answered how many were answered.
	queries, answered int
	// missing are warnings that something is missing, and warned is how many there were.
	missing []string
	warned  int
}

// begin begins a read.
func (s *Source) begin() *answers {
	a := &answers{Source: s}
	a.api = promv1.NewAPI(a)
	return a
}

// URL implements api.Client.
func (a *answers) URL(endpoint string, args map[string]string) *url.URL {
	return a.client.URL(endpoint, args)
}

// Do implements api.Client.
func (a *answers) Do(ctx context.Context, r *http.Request) (*http.Response, []byte, error) {
	send := a.sendPatiently
	if a.vector != nil {
		send = a.sendOnce
	}
	response, body, err := send(ctx, r)
	if err == nil && response.StatusCode == http.StatusOK && partial(body) {
		a.warn(promv1.Warnings{"isPartial: a part of the server did not answer"})
	}
	return response, body, err
}

// partial reports whether an answer has isPartial, with which VictoriaMetrics says that something may be missing.
// It reads no further than that: the series are most of the answer.
func partial(body []byte) (is bool) {
	const key = "isPartial"
	if !bytes.Contains(body, []byte(key)) {
		return false
	}
	in := json.NewDecoder(bytes.NewReader(body))
	_ = fields(in, func(name string) error {
		if name == key {
			return cmp.Or(in.Decode(&is), io.EOF)
		}
		return in.Decode(new(json.RawMessage))
	})
	return is
}

// incomplete returns an error if something may be missing.
func (a *answers) incomplete() error {
	if a.warned == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d warnings, such as %q", usage.ErrIncomplete, a.warned, a.missing)
}

// warn notes the warnings of an answer. Those that are about the query alone say nothing about
// series.
func (a *answers) warn(warnings promv1.Warnings) {
	for _, text := range warnings {
		if strings.HasPrefix(text, "PromQL info") {
			continue
		}
		a.warned++
		if text = brief(a.hide(text)); len(a.missing) < 3 && !slices.Contains(a.missing, text) {
			a.missing = append(a.missing, text)
		}
	}
}

// matrix runs a query over a range, in which INTERVAL is the time between samples, LEAST the number of CPU
// periods that count at least in that time, and SELECTOR stands for the matchers of the source. The series are in the order of their labels.
func (a *answers) matrix(ctx context.Context, query string, r promv1.Range) (model.Matrix, error) {
	query = a.placeholders.Replace(query)
	matrix, kept := a.kept.load(query, r)
	if !kept {
		warned := a.warned
		value, warnings, _, err := a.api.QueryRange(ctx, query, r)
		if err == nil {
			matrix, err = check(value, r)
		}
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", brief(query), a.fault(err))
		}
		if a.warn(warnings); a.warned == warned {
			a.kept.save(query, r, matrix)
		}
	}
	if a.answered++; a.progress != nil {
		a.progress(a.answered, a.queries)
	}
	return identified(matrix), nil
}
