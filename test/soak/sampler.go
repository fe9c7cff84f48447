package main

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// samplePeriod is the interval between the samples of each process.
	samplePeriod = 10 * time.Second
	// quietFor is how long the churn is paused before goroutines are counted.
	quietFor = 20 * time.Second
)

// sampler samples the processes of all replicas.
type sampler struct {
	replicas []*replica

	mu sync.Mutex
	// quiets are in chronological order.
	quiets []quiet
}

// quiet is the state of a process while nothing happened.
type quiet struct {
	process    string
	leading    bool
	goroutines goroutines
}

// run takes samples until ctx is done. It skips a process that does not respond, because
// the process is starting or has been killed.
func (s *sampler) run(ctx context.Context) {
	tick := time.NewTicker(samplePeriod)
	defer tick.Stop()
	for {
		s.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *sampler) look(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.replicas {
		l := r.now()
		if one, err := take(ctx, l); err == nil {
			l.samples = append(l.samples, one)
		}
	}
}

// quiet counts goroutines while nothing happens and only the sampler is connected. It
// counts several times and keeps the smallest count of each kind, because goroutines that
// serve a request or read a Lease come and go.
func (s *sampler) quiet(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.replicas {
		l := r.now()
		now, err := take(ctx, l)
		if err != nil {
			return err
		}
		http.DefaultClient.CloseIdleConnections()
		var least goroutines
		for range 5 {
			if err := wait(ctx, 500*time.Millisecond); err != nil {
				return err
			}
			some, err := askGoroutines(ctx, l, r.access)
			if err != nil {
				return err
			}
			if least == nil {
				least = some
			}
			least.least(some)
		}
		s.quiets = append(s.quiets, quiet{l.name, now.leading, least})
	}
	return nil
}

// wait waits for d, or until ctx is done.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
