package prometheus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/workload-resizer/workload-resizer/usage"
)

// mostBytes is the size of the largest answer that is read. The containers of 150,000 pods need a
// third of it.
const mostBytes = 256 << 20

// bounded adds the tenant to requests, and reads answers up to a size.
type bounded struct {
	tenant string
	most   int64
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.tenant != "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Scope-OrgID", b.tenant)
	}
	response, err := b.next.RoundTrip(r)
	if err == nil {
		response.Body = &body{response.Body, b.most, b.most}
	}
	return response, err
}

// body is the body of an answer.
type body struct {
	io.ReadCloser
	most, left int64
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the answer is larger than %d MiB", b.most>>20)
	}
	return n, err
}

// sameHost follows redirects only on the host that the user named, and to nothing less secure, since
// the tenant and credentials are sent to it.
func sameHost(r *http.Request, via []*http.Request) error {
	if r.URL.Hostname() != via[0].URL.Hostname() {
		return fmt.Errorf("redirected to the host %s", r.URL.Hostname())
	}
	if r.URL.Scheme != "https" && via[0].URL.Scheme == "https" {
		return errors.New("redirected from https to http")
	}
	if len(via) >= 10 {
		return errors.New("redirected 10 times")
	}
	return nil
}

// answers is one read of a Prometheus.
type answers struct {
	*Source
	// missing are warnings that something is missing, and warned is how many there were.
	missing []string
	warned  int
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
		if text = brief(a.hide.Replace(text)); len(a.missing) < 3 && !slices.Contains(a.missing, text) {
			a.missing = append(a.missing, text)
		}
	}
}

// matrix runs a query over a range, in which INTERVAL is the time between samples, LEAST the number of CPU
// periods that count at least in that time, and SELECTOR stands for the matchers of the source. The series are in the order of their labels.
func (a *answers) matrix(ctx context.Context, query string, r promv1.Range) (model.Matrix, error) {
	query = a.queries.Replace(query)
	value, warnings, _, err := a.api.QueryRange(ctx, query, r)
	var matrix model.Matrix
	if err == nil {
		matrix, err = check(value, r)
	}
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", brief(query), a.fault(err))
	}
	a.warn(warnings)
	return identified(matrix), nil
}

// identified leaves out what an endpoint without UIDs measures of containers that another endpoint
// measures with them.
func identified(matrix model.Matrix) model.Matrix {
	const uid = "pod_uid"
	known := map[model.Fingerprint][]*model.SampleStream{}
	for _, series := range matrix {
		if _, has := series.Metric[uid]; has {
			id := without(series.Metric, uid)
			known[id] = append(known[id], series)
		}
	}
	if len(known) == 0 {
		return matrix
	}
	return slices.DeleteFunc(matrix, func(series *model.SampleStream) bool {
		if _, has := series.Metric[uid]; has {
			return false
		}
		better := known[series.Metric.Fingerprint()]
		series.Values = slices.DeleteFunc(series.Values, func(point model.SamplePair) bool {
			return slices.ContainsFunc(better, func(other *model.SampleStream) bool {
				_, found := slices.BinarySearchFunc(other.Values, point.Timestamp, func(p model.SamplePair, at model.Time) int {
					return cmp.Compare(p.Timestamp, at)
				})
				return found
			})
		})
		return len(series.Values) == 0
	})
}

// without returns the fingerprint of labels without one of them.
func without(labels model.Metric, name model.LabelName) model.Fingerprint {
	rest := labels.Clone()
	delete(rest, name)
	return rest.Fingerprint()
}

// check returns the series of an answer to a query over a range, in the order of their labels. It
// fails if no Prometheus would give the answer: nothing of it can be trusted.
func check(value model.Value, r promv1.Range) (model.Matrix, error) {
	if value == nil {
		return nil, errors.New("an answer without data")
	}
	matrix, ok := value.(model.Matrix)
	if !ok {
		return nil, fmt.Errorf("the answer is a %s instead of a matrix", value.Type())
	}
	first, last := model.TimeFromUnixNano(r.Start.UnixNano()), model.TimeFromUnixNano(r.End.UnixNano())
	// The text of labels takes longer than anything else.
	labels := make(map[*model.SampleStream]string, len(matrix))
	for _, series := range matrix {
		if series == nil || len(series.Values) == 0 {
			return nil, errors.New("the answer has a series without values")
		}
		labels[series] = series.Metric.String()
		if series.Values[0].Timestamp < first || series.Values[len(series.Values)-1].Timestamp > last {
			return nil, fmt.Errorf("the answer has %s at a time that was not asked for", series.Metric)
		}
		if !slices.IsSortedFunc(series.Values, func(a, b model.SamplePair) int {
			return cmp.Or(cmp.Compare(a.Timestamp, b.Timestamp), -1)
		}) {
			return nil, fmt.Errorf("the answer does not have %s in the order of time", series.Metric)
		}
	}
	slices.SortFunc(matrix, func(a, b *model.SampleStream) int { return cmp.Compare(labels[a], labels[b]) })
	for i := range matrix[min(1, len(matrix)):] {
		if labels[matrix[i]] == labels[matrix[i+1]] {
			return nil, fmt.Errorf("the answer has %s twice", matrix[i].Metric)
		}
	}
	return matrix, nil
}
