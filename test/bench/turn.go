package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// freshPods fills the cluster with running pods that need a resize.
func (b *bench) freshPods(ctx context.Context, stamped bool) error {
	const name = "fresh"
	pod, err := b.cluster.template(ctx, name, fast+"-0", stamped)
	if err != nil {
		return err
	}
	if err := b.cluster.start(ctx, pod); err != nil {
		return err
	}
	if err := b.cluster.refresh(ctx, b.pods, name); err != nil {
		return err
	}
	return b.cluster.removeTemplate(ctx, name)
}

// turn describes how a server resizes its pods.
type turn struct {
	// stamped is whether the pods have originals from the policy.
	stamped bool
	args    []string
	// before are the ratios in effect when the server starts, empty for none.
	// ratios are the ratios that the server learns later, and that make a resize
	// necessary.
	before, ratios string
	// meanwhile, if not nil, runs while pods are being resized.
	meanwhile func(context.Context) error
}

// work returns the work of the server from the moment it learns the ratios.
func (b *bench) work(ctx context.Context, t *turn) (work, error) {
	if err := b.cluster.forget(ctx); err != nil {
		return work{}, err
	}
	if t.before != "" {
		if err := b.cluster.configure(ctx, t.before); err != nil {
			return work{}, err
		}
	}
	if err := b.freshPods(ctx, t.stamped); err != nil {
		return work{}, err
	}
	s, err := b.cluster.serve(ctx, append(slices.Clone(t.args), unlimited...)...)
	if err != nil {
		return work{}, err
	}
	defer b.stop(s)
	if err := s.leads(ctx); err != nil {
		return work{}, err
	}
	// From outside, only this log line shows that the server has read all pods.
	if err := s.until(ctx, soon, "read the pods", func(metrics) bool { return strings.Contains(s.Log(), "Caches synced") }); err != nil {
		return work{}, err
	}
	if _, err := s.settled(ctx, time.Second); err != nil {
		return work{}, err
	}
	w, err := b.measure(ctx, s.PID(), func() error {
		group, ctx := errgroup.WithContext(ctx)
		if t.meanwhile != nil {
			group.Go(func() error { return t.meanwhile(ctx) })
		}
		group.Go(func() error {
			if err := b.cluster.configure(ctx, t.ratios); err != nil {
				return err
			}
			return s.wrote(ctx, float64(b.pods))
		})
		return group.Wait()
	})
	if err != nil {
		return work{}, err
	}
	return w, b.cluster.check(ctx)
}

const (
	// soon is the poll interval for what is about to happen, and later for what is more
	// than nearly seconds away: each poll costs the server CPU.
	soon   = 50 * time.Millisecond
	later  = time.Second
	nearly = 2
	// longest is how long pods may take. If they take longer, they wait for something else than the server.
	longest = 10 * time.Minute
)

// wrote waits until the server has recorded that many pods as written.
func (s *server) wrote(ctx context.Context, pods float64) error {
	begin := time.Now()
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	return s.watch(ctx, soon, "write the pods", func(m metrics) (bool, time.Duration) {
		written := m.sum("workload_resizer_api_writes_total", "step", "applied", "code", "200")
		return written >= pods, nextLook(written, pods, time.Since(begin))
	})
}

// nextLook returns how long to wait before the next check of how many pods are written.
func nextLook(written, pods float64, took time.Duration) time.Duration {
	if rate := written / took.Seconds(); written > 0 && (pods-written)/rate > nearly {
		return later
	}
	return soon
}
