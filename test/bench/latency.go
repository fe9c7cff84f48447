package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// startsPerSecond is the number of pods that start running per second.
	startsPerSecond = 20
	// latencyTurns is the number of turns of each variant.
	latencyTurns = 4
)

// quantiles are the quantiles of the latency in the report.
var quantiles = [...]struct {
	name  string
	share float64
}{{"p50", 0.5}, {"p99", 0.99}}

// errWatchEnded means that a watch has ended, because the API server is too busy.
var errWatchEnded = errors.New("the watch has ended")

// latency measures the time from when a pod runs until a watch shows it resized.
func latency(ctx context.Context, b *bench) error {
	var ours, standard, bare []float64
	of := func(ratios string) func(context.Context) ([]float64, error) {
		return func(ctx context.Context) ([]float64, error) { return b.latencies(ctx, ratios) }
	}
	for turn := range latencyTurns {
		b.say("latency, turn %d of %d", turn+1, latencyTurns)
		turns := []struct {
			into *[]float64
			run  func(context.Context) ([]float64, error)
		}{{&bare, b.bareLatencies}, {&ours, of(ratios)}, {&standard, of(defaults)}}
		for i := range turns {
			t := turns[(turn+i)%len(turns)]
			took, err := t.run(ctx)
			if err != nil {
				return err
			}
			*t.into = append(*t.into, took...)
		}
	}
	for _, q := range quantiles {
		what := fmt.Sprintf("running to resized at %d pods/s, ", startsPerSecond)
		b.report.compare(what+q.name, quantile(ours, q.share), quantile(bare, q.share), "s").atMost(1.3)
		b.report.compare(what+"default configuration, "+q.name, quantile(standard, q.share), quantile(bare, q.share), "s").atMost(1.3)
	}
	return nil
}

// latencies returns the latencies of a server with these ratios. The server first starts
// and plans the existing pods.
func (b *bench) latencies(ctx context.Context, ratios string) ([]float64, error) {
	if err := b.cluster.configure(ctx, ratios); err != nil {
		return nil, err
	}
	if err := b.waitingPods(ctx, b.starts()); err != nil {
		return nil, err
	}
	s, err := b.cluster.serve(ctx, unlimited...)
	if err != nil {
		return nil, err
	}
	defer b.stop(s)
	if err := s.leads(ctx); err != nil {
		return nil, err
	}
	if err := s.WaitReady(ctx); err != nil {
		return nil, err
	}
	if _, err := s.settled(ctx, time.Second); err != nil {
		return nil, err
	}
	return b.startPods(ctx)
}

func (b *bench) bareLatencies(ctx context.Context) ([]float64, error) {
	if err := b.waitingPods(ctx, b.starts()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	bare, err := b.cluster.startBare(ctx, "--follow")
	if err != nil {
		cancel()
		return nil, err
	}
	took, err := b.startPods(ctx)
	cancel()
	// It ends only when it is killed.
	_ = bare.command.Wait()
	return took, err
}

// waitingPods fills the cluster with pods that do not run yet.
func (b *bench) waitingPods(ctx context.Context, pods int) error {
	const name = "waiting"
	if _, err := b.cluster.template(ctx, name, fast+"-0", false); err != nil {
		return err
	}
	if err := b.cluster.refresh(ctx, pods, name); err != nil {
		return err
	}
	return b.cluster.removeTemplate(ctx, name)
}

// starts returns the number of pods that start in one turn.
func (b *bench) starts() int {
	return int(b.latencyFor.Seconds() / latencyTurns * startsPerSecond)
}

// startPods starts one pod after another, and returns how many seconds after its start
// each was seen resized.
func (b *bench) startPods(ctx context.Context) ([]float64, error) {
	if err := b.rest(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*b.latencyFor)
	defer cancel()
	pods := b.cluster.client.CoreV1().Pods(filled)
	list, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list the pods: %w", err)
	}
	watch, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return nil, fmt.Errorf("watch the pods: %w", err)
	}
	defer watch.Stop()

	var mu sync.Mutex
	started, failed := map[string]time.Time{}, error(nil)
	go func() {
		ticker := time.NewTicker(time.Second / startsPerSecond)
		defer ticker.Stop()
		for i := range list.Items {
			<-ticker.C
			pod := &list.Items[i]
			go func() {
				err := b.cluster.start(ctx, pod)
				mu.Lock()
				defer mu.Unlock()
				started[pod.Name] = time.Now()
				if err != nil {
					failed = err
					cancel()
				}
			}()
		}
	}()

	seen := map[string]time.Time{}
	for event := range watch.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok {
			return nil, fmt.Errorf("watch the pods: %w", apierrors.FromObject(event.Object))
		}
		if resized(pod) && seen[pod.Name].IsZero() {
			seen[pod.Name] = time.Now()
		}
		if len(seen) == len(list.Items) {
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if failed != nil || len(seen) < len(list.Items) {
		return nil, fmt.Errorf("wait for %d pods to be resized: %d were: %w", len(list.Items), len(seen), cmp.Or(failed, context.Cause(ctx), errWatchEnded))
	}
	var took []float64
	for name, at := range seen {
		took = append(took, at.Sub(started[name]).Seconds())
	}
	return took, nil
}
