package prometheus

import (
	"context"
	"math"

	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// The queries of CPU. A container that restarts has a new cgroup, and both of its series count.
const (
	cpuSeconds   = `container_cpu_usage_seconds_total` + containers
	oneContainer = byContainer + `(sum without (id, name, image) (label_replace`
	queryRate    = oneContainer + `(rate(` + cpuSeconds + `[INTERVAL])` + withUID + `))`
	querySlope   = oneContainer + `(deriv(` + cpuSeconds + `[INTERVAL])` + withUID + `))`
	queryGrowth  = oneContainer + `((` + cpuSeconds + ` - ` + cpuSeconds + ` offset INTERVAL)` +
		` / (timestamp(` + cpuSeconds + `) - timestamp(` + cpuSeconds + ` offset INTERVAL))` + withUID + `))`
)

// trusted is which share of the rate a more exact value must be at least. It is less if the counter
// was reset, which only rate corrects.
const trusted = 0.9

// cpu returns the cores that containers used.
//
// rate alone is too low for an interval in which Prometheus was down or the container began, because
// it divides by the whole interval. The growth between the last scrapes of two intervals is exact.
// It is a growth per series: each endpoint that measures the container has a counter of its own.
// Without a scrape before the interval, the slope counts.
func (s *answers) cpu(ctx context.Context, r promv1.Range) (model.Matrix, error) {
	var rates, slope, growth model.Matrix
	for _, q := range []struct {
		query  string
		answer *model.Matrix
	}{{queryRate, &rates}, {querySlope, &slope}, {queryGrowth, &growth}} {
		var err error
		if *q.answer, err = s.matrix(ctx, q.query, r); err != nil {
			return nil, err
		}
	}
	slopes, grown := index(slope), index(growth)
	for _, series := range rates {
		fingerprint := series.Metric.Fingerprint()
		for i := range series.Values {
			point := &series.Values[i]
			exact, known := grown[key{fingerprint, point.Timestamp}]
			if !known || math.IsNaN(float64(exact)) {
				exact = slopes[key{fingerprint, point.Timestamp}]
			}
			if exact >= trusted*point.Value {
				point.Value = exact
			}
		}
	}
	return rates, nil
}
