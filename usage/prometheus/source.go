package prometheus

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Config is how a Prometheus is read.
type Config struct {
	// Address is the URL of the Prometheus, or of anything with its API. It may contain a user
	// and a password.
	Address string
	// Tenant is sent as X-Scope-OrgID, which Mimir, Cortex and Thanos use to separate tenants;
	// empty for none.
	Tenant string
	// Interval is the time between samples; 0 means 5 minutes. It must be several times the
	// interval in which Prometheus scrapes.
	Interval time.Duration
	// Transport sends the requests, e.g. with credentials; nil for the default one.
	Transport http.RoundTripper
}

// Source is a Prometheus as a source of usage.
type Source struct {
	api      promv1.API
	name     string
	interval time.Duration
}

// chunk is how many intervals a query covers: its answer has to fit in memory.
const chunk = 12

// New returns a source. It does not connect yet.
func New(c Config) (*Source, error) {
	transport := c.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	client, err := api.NewClient(api.Config{Address: c.Address, RoundTripper: tenant{c.Tenant, transport}})
	if err != nil {
		return nil, fmt.Errorf("use Prometheus at %q: %w", c.Address, err)
	}
	name := "prometheus"
	if address, err := url.Parse(c.Address); err == nil {
		name += " " + address.Redacted()
	}
	return &Source{api: promv1.NewAPI(client), name: name, interval: cmp.Or(c.Interval, 5*time.Minute)}, nil
}

// tenant adds the tenant to requests.
type tenant struct {
	name string
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t tenant) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.name != "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Scope-OrgID", t.name)
	}
	return t.next.RoundTrip(r)
}

// Name implements usage.Source.
func (s *Source) Name() string { return s.name }

// Read implements usage.Source. Samples are taken at multiples of the interval since 1970, so that
// reading the same time again delivers the same samples.
func (s *Source) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	first := since.Truncate(s.interval).Add(s.interval)
	for !first.After(until) {
		last := first.Add((chunk - 1) * s.interval)
		if last.After(until) {
			last = until.Truncate(s.interval)
		}
		if err := s.readChunk(ctx, promv1.Range{Start: first, End: last, Step: s.interval}, observe); err != nil {
			return err
		}
		first = last.Add(s.interval)
	}
	return nil
}

// The queries. Several endpoints, jobs or replicas of Prometheus may measure the same container, and
// only one of them counts.
const (
	containers     = `{container!="",container!="POD"}`
	byContainer    = `max by (namespace, pod, container) `
	queryThrottled = byContainer + `(increase(container_cpu_cfs_throttled_periods_total` + containers + `[INTERVAL])) > 0`
	queryPressure  = byContainer + `(rate(container_pressure_cpu_waiting_seconds_total` + containers + `[INTERVAL]))`
	queryMemory    = byContainer + `(max_over_time(container_memory_working_set_bytes` + containers + `[INTERVAL]))`
)

// readChunk delivers the samples of a range.
func (s *Source) readChunk(ctx context.Context, r promv1.Range, observe func(usage.Sample)) error {
	cpu, err := s.cpu(ctx, r)
	if err != nil {
		return err
	}
	var throttled, pressure, memory model.Matrix
	for _, q := range []struct {
		query  string
		answer *model.Matrix
	}{{queryThrottled, &throttled}, {queryPressure, &pressure}, {queryMemory, &memory}} {
		if *q.answer, err = s.matrix(ctx, q.query, r); err != nil {
			return err
		}
	}
	isThrottled, waited := index(throttled), index(pressure)
	for _, series := range cpu {
		for _, point := range series.Values {
			sample, id := s.sample(series.Metric, point), key{series.Metric.Fingerprint(), point.Timestamp}
			var plausible bool
			if sample.Usage, plausible = history.Millicores(float64(point.Value)); !plausible {
				continue
			}
			_, sample.Throttled = isThrottled[id]
			if share := float64(waited[id]); share > 0 {
				sample.Pressure = min(share, 1)
			}
			observe(sample)
		}
	}
	for _, series := range memory {
		for _, point := range series.Values {
			sample := s.sample(series.Metric, point)
			sample.Resource = history.Memory
			var plausible bool
			if sample.Usage, plausible = history.Bytes(float64(point.Value)); plausible {
				observe(sample)
			}
		}
	}
	return nil
}

// matrix runs a query over a range, in which INTERVAL is the time between samples. The series are in
// the order of their labels.
func (s *Source) matrix(ctx context.Context, query string, r promv1.Range) (model.Matrix, error) {
	query = strings.ReplaceAll(query, "INTERVAL", model.Duration(s.interval).String())
	value, _, _, err := s.api.QueryRange(ctx, query, r)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", query, err)
	}
	matrix, ok := value.(model.Matrix)
	if !ok {
		return nil, fmt.Errorf("query %s: the answer is a %s instead of a matrix", query, value.Type())
	}
	slices.SortFunc(matrix, func(a, b *model.SampleStream) int { return cmp.Compare(a.Metric.String(), b.Metric.String()) })
	return matrix, nil
}

// sample returns a sample of a series without its usage.
func (s *Source) sample(labels model.Metric, point model.SamplePair) usage.Sample {
	sample := usage.Sample{
		Namespace: string(labels["namespace"]), Name: string(labels["pod"]), Container: string(labels["container"]),
	}
	sample.At, sample.Length = point.Timestamp.Time().UTC(), s.interval
	return sample
}

// key is a point of a series.
type key struct {
	series model.Fingerprint
	at     model.Time
}

// index returns the points of series by their keys.
func index(matrix model.Matrix) map[key]model.SampleValue {
	points := map[key]model.SampleValue{}
	for _, series := range matrix {
		id := series.Metric.Fingerprint()
		for _, point := range series.Values {
			points[key{id, point.Timestamp}] = point.Value
		}
	}
	return points
}
