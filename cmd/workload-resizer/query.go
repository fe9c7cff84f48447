package main

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/promql"
	"github.com/workload-resizer/workload-resizer/usage/prometheus"
)

// mostOfAnswer is how many bytes the answer to the query of an objective or of work has at most: those of 150,000 pods.
// Anyone whose metrics are scraped may cause more elements.
const mostOfAnswer = 24 << 20

// newQuery returns what asks the Prometheus of objectives and of work. That at the same address as the source of
// usage has the same credentials, and the others have none.
func newQuery(o *usageOptions) promql.Query {
	var mu sync.Mutex
	sources := map[string]*prometheus.Source{}
	connect := func(address string) (*prometheus.Source, error) {
		mu.Lock()
		defer mu.Unlock()
		if source := sources[address]; source != nil {
			return source, nil
		}
		config := prometheus.Config{Address: address}
		if o.has(usagePrometheus) && sameServer(address, o.address) {
			config = o.connection()
		}
		config.MostBytes = mostOfAnswer
		source, err := prometheus.New(config)
		if err != nil {
			return nil, err
		}
		sources[address] = source
		return source, nil
	}
	return func(ctx context.Context, address, query string, at time.Time, take func(promql.Element)) error {
		source, err := connect(address)
		if err != nil {
			return err
		}
		return source.Vector(ctx, query, at, func(e prometheus.Element) { take(promql.Element(e)) })
	}
}

// sameServer reports whether two URLs have the same scheme, host and path.
func sameServer(a, b string) bool {
	first, err := url.Parse(a)
	second, err2 := url.Parse(b)
	return err == nil && err2 == nil && first.Scheme == second.Scheme && first.Host == second.Host && first.Path == second.Path
}
