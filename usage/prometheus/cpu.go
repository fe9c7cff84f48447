package prometheus

import (
	"context"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// The queries of CPU. A container that restarts has a new cgroup, and both of its series count.
const (
	cpuSeconds   = `container_cpu_usage_seconds_total` + containers
	oneContainer = byContainer + `(sum without (id, name, image) `
	queryRate    = oneContainer + `(rate(` + cpuSeconds + `[INTERVAL])))`
	querySlope   = oneContainer + `(deriv(` + cpuSeconds + `[INTERVAL])))`
	queryTotal   = oneContainer + `(` + cpuSeconds + `))`
	queryTime    = byContainer + `(timestamp(` + cpuSeconds + `))`
)

// trusted is which share of the rate a more exact value must be at least. It is less if the counter
// was reset, which only rate corrects.
const trusted = 0.9

// cpu returns the cores that containers used.
//
// rate alone is too low for an interval in which Prometheus was down or the container began, because
// it divides by the whole interval. The growth between the last scrapes of two intervals is exact.
// Without a scrape before the interval, the slope counts.
func (s *Source) cpu(ctx context.Context, r promv1.Range) (model.Matrix, error) {
	earlier := r
	earlier.Start = earlier.Start.Add(-s.interval)
	var rates, slope, total, at model.Matrix
	for _, q := range []struct {
		query  string
		over   promv1.Range
		answer *model.Matrix
	}{{queryRate, r, &rates}, {querySlope, r, &slope}, {queryTotal, earlier, &total}, {queryTime, earlier, &at}} {
		var err error
		if *q.answer, err = s.matrix(ctx, q.query, q.over); err != nil {
			return nil, err
		}
	}
	slopes, totals, times := index(slope), index(total), index(at)
	for _, series := range rates {
		fingerprint := series.Metric.Fingerprint()
		for i := range series.Values {
			point := &series.Values[i]
			now := key{fingerprint, point.Timestamp}
			before := key{fingerprint, point.Timestamp.Add(-s.interval)}
			exact := slopes[now]
			if last, known := times[before]; known && times[now] > last {
				exact = (totals[now] - totals[before]) / (times[now] - last)
			}
			if exact >= trusted*point.Value {
				point.Value = exact
			}
		}
	}
	return rates, nil
}
