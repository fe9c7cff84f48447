package main

import (
	"context"
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// server is a running server.
type server struct{ *localcluster.Server }

// serve starts the server without waiting until it is ready.
func (c *cluster) serve(ctx context.Context, args ...string) (*server, error) {
	return c.serveBy(ctx, c.kubeconfig, args...)
}

func (c *cluster) serveBy(ctx context.Context, kubeconfig string, args ...string) (*server, error) {
	s, err := localcluster.StartServer(ctx, localcluster.ServerOptions{Kubeconfig: kubeconfig, Args: args})
	if err != nil {
		return nil, err
	}
	return &server{s}, nil
}

// metrics are the server's current metrics.
type metrics localcluster.Metrics

func (s *server) metrics(ctx context.Context) (metrics, error) {
	m, err := s.Metrics(ctx)
	return metrics(m), err
}

// sum adds up the series of a metric that have all these labels, given as name, value, ….
// It returns 0 if there are none, because a series appears only with its first event.
func (m metrics) sum(name string, labels ...string) float64 {
	wanted := map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		wanted[labels[i]] = labels[i+1]
	}
	// A missing series is not an error here.
	sum, _ := localcluster.Metrics(m).Sum(name, wanted)
	return sum
}

// until polls the metrics until a function accepts them.
func (s *server) until(ctx context.Context, every time.Duration, what string, wanted func(metrics) bool) error {
	return s.watch(ctx, every, what, func(m metrics) (bool, time.Duration) { return wanted(m), every })
}

// watch polls the metrics until look accepts them. Otherwise, look returns when to poll
// again.
func (s *server) watch(ctx context.Context, every time.Duration, what string, look func(metrics) (wanted bool, again time.Duration)) error {
	for {
		// A server that is still starting does not respond yet.
		if m, err := s.metrics(ctx); err == nil {
			var wanted bool
			if wanted, every = look(m); wanted {
				return nil
			}
		}
		select {
		case <-s.Done():
			return fmt.Errorf("wait for the server to %s: it has ended: %s", what, localcluster.Tail(s.Log(), 20))
		case <-ctx.Done():
			return fmt.Errorf("wait for the server to %s: %w: %s", what, context.Cause(ctx), localcluster.Tail(s.Log(), 20))
		case <-time.After(every):
		}
	}
}

// leads waits until the server has read the cluster and leads.
func (s *server) leads(ctx context.Context) error {
	return s.until(ctx, 50*time.Millisecond, "lead", isLeading)
}

func isLeading(m metrics) bool { return m.sum("workload_resizer_leading") == 1 }

// settled waits until the server has had nothing to plan for that long, and returns its
// metrics at that time.
func (s *server) settled(ctx context.Context, quiet time.Duration) (metrics, error) {
	var settled metrics
	plans, since := -1.0, time.Now()
	err := s.until(ctx, 100*time.Millisecond, "have nothing left to plan", func(m metrics) bool {
		if now := m.sum(plansCounted); now != plans || m.sum("workload_resizer_queue_depth") > 0 {
			plans, since = now, time.Now()
		}
		settled = m
		return time.Since(since) >= quiet
	})
	return settled, err
}

// plansCounted is the metric that counts plans.
const plansCounted = "workload_resizer_plan_seconds"

// rss returns the server's resident memory, in bytes.
func (s *server) rss() (float64, error) {
	stat, err := localcluster.ProcessStat(s.PID())
	return float64(stat.ResidentMemory()), err
}

// heap returns the bytes of the server's heap that are in use after a garbage collection.
// With the default GOGC, the next collection is due at twice that size. The server
// collects garbage every two minutes, and sooner if it has work to do, such as these
// requests.
func (s *server) heap(ctx context.Context) (float64, error) {
	const collected = "go_memstats_last_gc_time_seconds"
	var live float64
	first, count := 0.0, 0
	// The first collection may have begun earlier.
	err := s.until(ctx, 0, "collect garbage", func(m metrics) bool {
		if at := m.sum(collected); at != first {
			first = at
			count++
		}
		live = m.sum("go_memstats_next_gc_bytes") / 2
		return count > 2
	})
	return live, err
}
