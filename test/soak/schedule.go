package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// changeEvery is how often ratios change.
const changeEvery = time.Minute

// restarts and terminations are how often the API server is restarted and a leader is
// terminated.
const restarts, terminations = 2, 2

// event is an action and when it happens, counted from the start of the churn.
type event struct {
	after time.Duration
	do    func(context.Context) error
}

// kills returns when leaders are killed, which is at least once.
func (o *options) kills() []time.Duration {
	var all []time.Duration
	every := min(o.killEvery, o.duration/2)
	for at := every; at < o.duration; at += every {
		all = append(all, at)
	}
	return all
}

// schedule returns all events in order. Ratios change and leaders are killed throughout
// the run. The API server is restarted twice, two leaders are terminated, and there is a
// quiet time in the middle.
func (s *soak) schedule() []event {
	var all []event
	for at := changeEvery; at < s.duration; at += changeEvery {
		all = append(all, event{at, s.changeRatios})
	}
	for _, at := range s.kills() {
		all = append(all, event{at, s.kill})
	}
	for eighths, do := range map[time.Duration]func(context.Context) error{
		2: s.restart, 3: s.terminate, 4: s.pause, 5: s.terminate, 6: s.restart,
	} {
		all = append(all, event{s.duration * eighths / 8, do})
	}
	slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.after, b.after) })
	return append(all, event{s.duration, func(context.Context) error { return nil }})
}

// move executes the schedule. An event that takes too long delays the following ones.
func (s *soak) move(ctx context.Context) error {
	begin := time.Now()
	for _, e := range s.schedule() {
		if err := wait(ctx, time.Until(begin.Add(e.after))); err != nil {
			return err
		}
		if err := e.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *soak) changeRatios(ctx context.Context) error {
	created, resizes, problems := s.judge.tally()
	first := s.judge.fared().First
	say("%d pods created, %d resizes, the slowest first resize after %.1f s, %d problems", created, resizes, first.Max, len(problems))
	return s.changer.change(ctx)
}

func (s *soak) restart(ctx context.Context) error {
	say("restarting the API server")
	s.restarts++
	return restartAPIServer(ctx, s.cluster, s.replicas, s.outages)
}

// kill and terminate end the leader under full load.
func (s *soak) kill(ctx context.Context) error {
	return s.takeOver(ctx, "killed", &s.afterKill, (*localcluster.Server).Kill)
}

func (s *soak) terminate(ctx context.Context) error {
	return s.takeOver(ctx, "terminated", &s.afterTerm, (*localcluster.Server).Stop)
}

func (s *soak) takeOver(ctx context.Context, how string, times *[]float64, end func(*localcluster.Server) error) error {
	took, err := endLeader(ctx, s.replicas, s.outages, end)
	if err != nil {
		return err
	}
	*times = append(*times, took.Seconds())
	say("the leader was %s, another replica led after %.1f s", how, took.Seconds())
	return awaitReady(ctx, s.replicas)
}

// pause stops the churn for a while, and counts goroutines when it is quiet.
func (s *soak) pause(ctx context.Context) error {
	say("pausing to count goroutines")
	for _, r := range s.replicas {
		r.hangUp()
	}
	s.churn.paused.Store(true)
	defer s.churn.paused.Store(false)
	if err := wait(ctx, quietFor); err != nil {
		return err
	}
	return s.sampler.quiet(ctx)
}
