package prometheus

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
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

// sameHost follows redirects only on the host that the user named, since the tenant and credentials
// are sent to it.
func sameHost(r *http.Request, via []*http.Request) error {
	if r.URL.Hostname() != via[0].URL.Hostname() {
		return fmt.Errorf("redirected to the host %s", r.URL.Hostname())
	}
	if len(via) >= 10 {
		return errors.New("redirected 10 times")
	}
	return nil
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
	for _, series := range matrix {
		if series == nil || len(series.Values) == 0 {
			return nil, errors.New("the answer has a series without values")
		}
		if series.Values[0].Timestamp < first || series.Values[len(series.Values)-1].Timestamp > last {
			return nil, fmt.Errorf("the answer has %s at a time that was not asked for", series.Metric)
		}
		if !slices.IsSortedFunc(series.Values, func(a, b model.SamplePair) int {
			return cmp.Or(cmp.Compare(a.Timestamp, b.Timestamp), -1)
		}) {
			return nil, fmt.Errorf("the answer does not have %s in the order of time", series.Metric)
		}
	}
	slices.SortFunc(matrix, func(a, b *model.SampleStream) int { return cmp.Compare(a.Metric.String(), b.Metric.String()) })
	for i := range matrix[min(1, len(matrix)):] {
		if matrix[i].Metric.Equal(matrix[i+1].Metric) {
			return nil, fmt.Errorf("the answer has %s twice", matrix[i].Metric)
		}
	}
	return matrix, nil
}
