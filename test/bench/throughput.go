package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// unlimited lets the server write as fast as it can.
var unlimited = []string{"--kube-api-qps=100000", "--kube-api-burst=100000"}

// variant is one way to have pods resized.
type variant struct {
	name   string
	target float64
	run    func(context.Context) (work, error)
	works  []work
}

// throughput measures how many pods per second are resized that all need it at
// once. What that takes of CPU is told beside it: it decides, and is the same
// however much else the machine does.
func throughput(ctx context.Context, b *bench) error {
	server := func(stamped bool, args ...string) func(context.Context) (work, error) {
		return func(ctx context.Context) (work, error) { return b.work(ctx, stamped, args...) }
	}
	variants := []*variant{
		{name: "bare", run: b.bareWork},
		{name: "events on", target: 0.85, run: server(false)},
		{name: "events off", target: 0.90, run: server(false, "--events=false")},
		{name: "originals stamped at creation", target: 1.25, run: server(true)},
	}
	for round := range b.rounds {
		// What comes before may slow down what comes after, so each begins once.
		for i := range variants {
			v := variants[(round+i)%len(variants)]
			b.say("throughput, round %d of %d: %s", round+1, b.rounds, v.name)
			w, err := v.run(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", v.name, err)
			}
			b.say("  %+v", w)
			v.works = append(v.works, w)
		}
	}
	rate := func(w work) float64 { return float64(b.pods) / w.took }
	perPod := func(w work) float64 { return 1000 * (w.client + w.cluster) / float64(b.pods) }
	client := func(w work) float64 { return 1000 * w.client / float64(b.pods) }
	bare := variants[0]
	for _, v := range variants[1:] {
		b.report.compareRounds("aligned pods, "+v.name, v.all(rate), bare.all(rate), "pods/s").atLeast(v.target)
		b.report.compareRounds("CPU per aligned pod, API server included, "+v.name, v.all(perPod), bare.all(perPod), "ms")
		b.report.compareRounds("CPU per aligned pod, "+v.name, v.all(client), bare.all(client), "ms")
	}
	return nil
}

// all are the figures of the rounds.
func (v *variant) all(of func(work) float64) []float64 {
	var values []float64
	for _, w := range v.works {
		values = append(values, of(w))
	}
	return values
}

// freshPods fills the cluster with pods that run and need another size.
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

// work is what the server takes, from when it learns the ratios.
func (b *bench) work(ctx context.Context, stamped bool, args ...string) (work, error) {
	if err := b.cluster.forget(ctx); err != nil {
		return work{}, err
	}
	if err := b.freshPods(ctx, stamped); err != nil {
		return work{}, err
	}
	s, err := b.cluster.serve(ctx, append(args, unlimited...)...)
	if err != nil {
		return work{}, err
	}
	defer b.stop(s)
	if err := s.leads(ctx); err != nil {
		return work{}, err
	}
	// Nothing else tells from outside that it has read all pods.
	if err := s.until(ctx, 50*time.Millisecond, "read the pods", func(metrics) bool { return strings.Contains(s.Log(), "Caches are filled") }); err != nil {
		return work{}, err
	}
	w, err := b.cluster.measure(ctx, s.PID(), func() error {
		if err := b.cluster.configure(ctx, ratios); err != nil {
			return err
		}
		return s.wrote(ctx, float64(b.pods))
	})
	if err != nil {
		return work{}, err
	}
	return w, b.cluster.check(ctx)
}

// wrote waits until the server has recorded so many pods. Each look costs it
// something: there are few before the end.
func (s *server) wrote(ctx context.Context, pods float64) error {
	written := 0.0
	for every := time.Second; written < pods; {
		if err := s.until(ctx, every, "write the pods", func(m metrics) bool {
			now := m.sum("workload_resizer_api_writes_total", "step", "applied", "code", "200")
			more := now > written
			written = now
			return more
		}); err != nil {
			return err
		}
		if written > 0.95*pods {
			every = 50 * time.Millisecond
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(every):
		}
	}
	return nil
}
