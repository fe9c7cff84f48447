package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// handoverWithin is the target for the time from SIGTERM until the other server
	// leads, in seconds.
	handoverWithin = 2
	// handoverRoom is how long one handover may take, including the start of the next
	// server, before there are no pods left to start.
	handoverRoom = 20 * time.Second
)

// asByDefault sets the default timing of the leader election.
var asByDefault = []string{"--leader-lease-duration=15s"}

// handover measures the time from SIGTERM until the other server leads, while pods are
// being resized.
func handover(ctx context.Context, b *bench) error {
	if err := b.cluster.configure(ctx, ratios); err != nil {
		return err
	}
	if err := b.waitingPods(ctx, b.handovers*int(handoverRoom.Seconds())*startsPerSecond); err != nil {
		return err
	}
	coming, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stop(b.comingPods(coming))
	}()
	took, err := b.handOvers(coming)
	stop(nil)
	<-ended
	if err != nil {
		return err
	}
	b.report.tell("SIGTERM until the other server leads, p50", median(took), "s")
	b.report.tell("SIGTERM until the other server leads, max", quantile(took, 1), "s").atMost(handoverWithin)
	return nil
}

// comingPods starts one pod after another until ctx is done. Running out of pods is an
// error.
func (b *bench) comingPods(ctx context.Context) error {
	list, err := b.cluster.client.CoreV1().Pods(filled).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the pods: %w", err)
	}
	ticker := time.NewTicker(time.Second / startsPerSecond)
	defer ticker.Stop()
	for i := range list.Items {
		if err := b.cluster.start(ctx, &list.Items[i]); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return errors.New("no pods are left to start: handovers take too long")
}

// handOvers returns the seconds that each handover took.
func (b *bench) handOvers(ctx context.Context) ([]float64, error) {
	leader, err := b.candidate(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { b.stop(leader) }()
	var took []float64
	for i := range b.handovers {
		if err := leader.resizes(ctx); err != nil {
			return nil, err
		}
		next, err := b.candidate(ctx)
		if err != nil {
			return nil, err
		}
		stopped := make(chan error, 1)
		begin := time.Now()
		go func() { stopped <- leader.Stop() }()
		led := next.until(ctx, 5*time.Millisecond, "lead", isLeading)
		took = append(took, time.Since(begin).Seconds())
		err = <-stopped
		leader = next
		if err := errors.Join(led, err); err != nil {
			return nil, err
		}
		b.say("handover %d of %d: %.2f s", i+1, b.handovers, took[i])
	}
	return took, leader.resizes(ctx)
}

// candidate starts a server and waits until it is ready to lead.
func (b *bench) candidate(ctx context.Context) (*server, error) {
	s, err := b.cluster.serve(ctx, asByDefault...)
	if err != nil {
		return nil, err
	}
	if err := s.WaitReady(ctx); err != nil {
		b.stop(s)
		return nil, err
	}
	return s, nil
}

// resizes waits until the server has resized a pod.
func (s *server) resizes(ctx context.Context) error {
	return s.until(ctx, 50*time.Millisecond, "resize a pod", func(m metrics) bool {
		return m.sum("workload_resizer_api_writes_total", "step", "applied", "code", "200") > 0
	})
}
