package prometheus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
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
	// and a password, and a query string.
	Address string
	// Tenant is sent as X-Scope-OrgID, which Mimir, Cortex and Thanos use to separate tenants;
	// empty for none.
	Tenant string
	// Selector has label matchers, as in PromQL but without braces, that all series must match,
	// such as cluster="a" for one of several clusters; empty for all series.
	Selector string
	// Interval is the time between samples, at most 10 minutes; 0 means 5 minutes. It must be
	// several times the interval in which Prometheus scrapes.
	Interval time.Duration
	Credentials
	// MostBytes is how many bytes an answer has at most; 0 means 256 MiB. An answer takes many times as much
	// memory.
	MostBytes int64

	// Kept is a folder in which complete answers about the past are kept, and from which they are taken; empty for
	// none. Nothing is deleted from it. It must belong to these credentials alone.
	Kept string
	// Progress is called after each answer to one of the queries of a read.
	Progress func(answered, queries int)

	// transport sends the requests; nil for one with the credentials.
	transport http.RoundTripper
	// patience is how long an answer may take; 0 means 5 minutes, since a Prometheus gives up a
	// query after two.
	patience time.Duration
}

// Source is a Prometheus as a source of usage.
type Source struct {
	// client sends queries through http.
	client        api.Client
	http          *http.Client
	name, address string
	// secrets are what the address has to hide.
	secrets      []string
	credentials  Credentials
	placeholders *strings.Replacer
	interval     time.Duration
	kept         kept
	progress     func(answered, queries int)
}

// chunk is how many intervals a query covers at most: its answer has to fit in memory.
const chunk = 12

// New returns a source. It does not connect yet.
func New(c Config) (*Source, error) {
	address, err := url.Parse(c.Address)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, errAddress
	}
	if err := c.check(address); err != nil {
		return nil, err
	}
	transport := c.transport
	if transport == nil {
		if transport, err = c.Credentials.transport(); err != nil {
			return nil, fmt.Errorf("use the credentials of Prometheus: %w", err)
		}
	}
	selector, err := parseSelector(c.Selector)
	if err != nil {
		return nil, fmt.Errorf("read the selector: %w", err)
	}
	interval := cmp.Or(c.Interval, 5*time.Minute)
	if interval < time.Millisecond || interval > 10*time.Minute {
		return nil, fmt.Errorf("the interval %v is not between 1ms and 10m", interval)
	}
	sender := &http.Client{
		Transport: bounded{c.Tenant, cmp.Or(c.MostBytes, mostBytes), transport}, CheckRedirect: sameHost,
		Timeout: cmp.Or(c.patience, 5*time.Minute),
	}
	client, err := api.NewClient(api.Config{Address: c.Address, Client: sender})
	if err != nil {
		return nil, errAddress
	}
	s := &Source{client: client, http: sender, credentials: c.Credentials, interval: interval, kept: kept(c.Kept), progress: c.Progress}
	s.address, s.secrets = redact(address)
	s.name = "prometheus " + s.address
	// Sources with the same address must have different names.
	if c.Tenant != "" {
		s.name += " of tenant " + c.Tenant
	}
	if selector != "" {
		s.name += " {" + strings.TrimSuffix(selector, ",") + "}"
	}
	// A container that rarely runs counts as if it ran in a tenth of the periods of 100 ms, or else a moment would
	// count as much as minutes.
	least := strconv.FormatFloat(interval.Seconds(), 'f', -1, 64)
	s.placeholders = strings.NewReplacer("INTERVAL", model.Duration(interval).String(), "LEAST", least, "SELECTOR", selector)
	return s, nil
}

// errAddress does not contain the address, or the reason: both may contain parts of a password.
var errAddress = errors.New("the address of Prometheus is not a URL such as http://host:9090 or https://user:password@host, in which special characters of a password are escaped, such as / as %2F")

// Name implements usage.Source.
func (s *Source) Name() string { return s.name }

// Read implements usage.Source. Samples are taken at multiples of the interval since 1970, so that
// reading the same time again delivers the same samples.
//
// The newest interval is read only when a fifth of the next one is over. Until then, Prometheus may
// not have stored all of it, and the peak of the rest would never count.
//
// Warnings of the Prometheus are ErrIncomplete: no series is wrong because of them, but some may be
// missing.
func (s *Source) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	if stored := time.Now().Add(-s.interval / 5); until.After(stored) {
		until = stored
	}
	a := s.begin()
	ranges := split(since.Truncate(s.interval).Add(s.interval), until, s.interval, chunk)
	a.queries = len(ranges) * queriesOfUsage
	for _, r := range ranges {
		if err := a.readChunk(ctx, r, observe); err != nil {
			return err
		}
	}
	return a.incomplete()
}

// split returns ranges of at most n steps, from the first to the last step that is not after until. They end at
// multiples of their length, so that reads of overlapping times ask the same.
func split(first, until time.Time, step time.Duration, n int) (ranges []promv1.Range) {
	for last := until.Truncate(step); !first.After(last); {
		end := first.Add(-step).Truncate(time.Duration(n) * step).Add(time.Duration(n) * step)
		if end.After(last) {
			end = last
		}
		ranges = append(ranges, promv1.Range{Start: first, End: end, Step: step})
		first = end.Add(step)
	}
	return ranges
}

// The queries. Several endpoints, jobs or replicas of Prometheus may measure the same container, and
// only one of them counts. The UID of a pod, which its name does not have, is part of its cgroup.
const (
	containers     = `{SELECTORcontainer!="",container!="POD"}`
	byContainer    = `max by (namespace, pod, container, pod_uid) `
	withUID        = `, "pod_uid", "$1", "id", ".*pod([0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}).*")`
	queryThrottled = byContainer + `(label_replace(increase(container_cpu_cfs_throttled_periods_total` + containers + `[INTERVAL])` +
		` / clamp_min(increase(container_cpu_cfs_periods_total` + containers + `[INTERVAL]), LEAST)` + withUID + `)`
	queryCPUWait    = byContainer + `(label_replace(rate(container_pressure_cpu_waiting_seconds_total` + containers + `[INTERVAL])` + withUID + `)`
	queryMemoryWait = byContainer + `(label_replace(rate(container_pressure_memory_waiting_seconds_total` + containers + `[INTERVAL])` + withUID + `)`
	queryMemory     = byContainer + `(label_replace(max_over_time(container_memory_working_set_bytes` + containers + `[INTERVAL])` + withUID + `)`
)

// queriesOfUsage is how many queries readChunk sends.
const queriesOfUsage = 7

// readChunk delivers the samples of a range.
func (s *answers) readChunk(ctx context.Context, r promv1.Range, observe func(usage.Sample)) error {
	cpu, err := s.cpu(ctx, r)
	if err != nil {
		return err
	}
	var throttled, cpuWait, memoryWait, memory model.Matrix
	for _, q := range []struct {
		query  string
		answer *model.Matrix
	}{{queryThrottled, &throttled}, {queryCPUWait, &cpuWait}, {queryMemoryWait, &memoryWait}, {queryMemory, &memory}} {
		if *q.answer, err = s.matrix(ctx, q.query, r); err != nil {
			return err
		}
	}
	throttling, waitedForCPU, waitedForMemory := index(throttled), index(cpuWait), index(memoryWait)
	for _, series := range cpu {
		for _, point := range series.Values {
			sample, id := s.sample(series.Metric, point), key{series.Metric.Fingerprint(), point.Timestamp}
			var plausible bool
			if sample.Usage, plausible = history.Millicores(float64(point.Value)); !plausible {
				continue
			}
			sample.Cores = float64(point.Value)
			var throttled float64
			throttled, sample.Strain.Throttled = share(throttling, id)
			sample.Throttled = throttled > 0
			sample.Pressure, sample.Strain.Pressure = share(waitedForCPU, id)
			observe(sample)
		}
	}
	for _, series := range memory {
		for _, point := range series.Values {
			sample := s.sample(series.Metric, point)
			sample.Resource = history.Memory
			var plausible bool
			if sample.Usage, plausible = history.Bytes(float64(point.Value)); plausible {
				_, sample.Strain.Pressure = share(waitedForMemory, key{series.Metric.Fingerprint(), point.Timestamp})
				observe(sample)
			}
		}
	}
	return nil
}

// share returns a share at a point, and whether it is known. It is 0 without anything that it could be a
// share of.
func share(points map[key]model.SampleValue, at key) (n float64, as usage.Value) {
	value, known := points[at]
	if !known {
		return 0, usage.Value{}
	}
	if n = min(float64(value), 1); !(n >= 0) { // NaN, too.
		n = 0
	}
	return n, usage.ValueOf(n)
}

// sample returns a sample of a series without its usage.
func (s *Source) sample(labels model.Metric, point model.SamplePair) usage.Sample {
	sample := usage.Sample{
		Namespace: string(labels["namespace"]), Name: string(labels["pod"]), Container: string(labels["container"]),
	}
	// A systemd slice has underscores in the UID.
	sample.UID = strings.ReplaceAll(string(labels["pod_uid"]), "_", "-")
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
