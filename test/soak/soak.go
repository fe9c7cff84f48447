package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// soak is a cluster, the servers, and everything that changes there.
type soak struct {
	options
	dir      string
	cluster  *localcluster.Cluster
	client   kubernetes.Interface
	replicas []*replica
	outages  *outages
	judge    *judge
	changer  *changer
	churn    *churn
	sampler  *sampler

	begun                time.Time
	restarts             int
	afterKill, afterTerm []float64
	// moving is how long the churn lasted, created is the number of pods created during
	// that time, and checked is the number of pods checked at the end.
	moving           time.Duration
	created, checked int
	// tailBegan and tailEnded are zero if there was no tail.
	tailBegan, tailEnded time.Time
}

// newSoak brings everything up. The caller must close the result even if there is an
// error.
func newSoak(ctx context.Context, o options) (*soak, error) {
	s := &soak{options: o, begun: time.Now()}
	var err error
	if s.dir, err = os.MkdirTemp("", "soak-"); err != nil {
		return s, err
	}
	say("bringing up a cluster in %s", s.dir)
	if s.cluster, err = localcluster.Up(ctx, localcluster.Options{
		Dir: s.dir + "/cluster", Nodes: "n2d=2,n4=2,c3=2", NodeCPU: 64, NodeMemory: "256Gi",
	}); err != nil {
		return s, err
	}
	if s.client, err = kubernetes.NewForConfig(s.cluster.Config()); err != nil {
		return s, err
	}
	if err := s.cluster.Install(ctx, "deploy/base", deploy.Namespace, deployment); err != nil {
		return s, err
	}
	access, err := grantAccess(ctx, s.client, s.dir)
	if err != nil {
		return s, err
	}
	h := &history{ratios: map[string][]inForce{}}
	s.outages = &outages{}
	s.judge, s.changer = newJudge(h, s.outages, o.within, o.pods), newChanger(s.cluster.Config(), h, s.api)
	if err := s.changer.configure(ctx); err != nil {
		return s, err
	}
	for n := range o.replicas {
		spared := n == o.replicas-1
		if spared {
			// The spared replica is the last one and finds a leader.
			if _, err := awaitLeader(ctx, s.replicas); err != nil {
				return s, err
			}
		}
		r, err := startReplica(ctx, s.cluster, access, n+1, spared)
		if err != nil {
			return s, err
		}
		s.replicas = append(s.replicas, r)
	}
	s.sampler = &sampler{replicas: s.replicas}
	return s, errors.Join(awaitAuthority(ctx, s.client, access), awaitReady(ctx, s.replicas))
}

// api returns a client for any ready replica.
func (s *soak) api() (*client.Client, error) {
	for _, r := range s.replicas {
		once, cancel := context.WithTimeout(context.Background(), time.Second)
		code, _, err := r.now().server.Readyz(once)
		cancel()
		if err == nil && code == 200 {
			return r.dial()
		}
	}
	return nil, errors.New("no replica is ready")
}

// soak runs the churn and the schedule for the requested time, and waits until everything
// has come to rest.
func (s *soak) soak(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Sizing all pods at the same time takes as long as the backlog of an outage.
	populated := s.outages.begin()
	population, err := populate(ctx, s.client, s.pods)
	if err != nil {
		return err
	}
	s.pods, s.judge.population = population, population
	informer, factory, err := follow(ctx, s.client, s.judge)
	if err != nil {
		return err
	}
	defer factory.Shutdown()
	defer cancel()
	if _, err := awaitFinal(ctx, s.client, s.judge, s.pods); err != nil {
		return err
	}
	populated()
	s.churn = &churn{client: s.client, pods: listers.NewPodLister(informer.GetIndexer()), population: s.pods, rate: s.rate, outages: s.outages}
	var moving sync.WaitGroup
	stop := func() { cancel(); moving.Wait() }
	defer stop()
	moving.Go(func() { s.sampler.run(ctx) })
	moving.Go(func() { s.judge.sweep(ctx) })
	if err := s.pause(ctx); err != nil {
		return err
	}
	churning, endChurn := context.WithCancel(ctx)
	defer endChurn()
	moving.Go(func() { s.churn.run(churning) })
	begin := time.Now()
	before, _, _ := s.judge.tally()
	if err = s.move(ctx); err == nil {
		err = s.tail(ctx)
	}
	endChurn()
	s.moving = time.Since(begin)
	after, _, _ := s.judge.tally()
	s.created = after - before
	if err != nil {
		return err
	}
	// Pods are no longer deleted, so every pod must be sized again in time.
	if err := s.changeRatios(ctx); err != nil {
		return err
	}
	say("waiting for everything to come to rest")
	if s.checked, err = awaitFinal(ctx, s.client, s.judge, s.pods); err != nil {
		return err
	}
	return s.pause(ctx)
}

// sumUp creates the report.
func (s *soak) sumUp() *report {
	created, resizes, problems := s.judge.tally()
	r := &report{
		Seconds: time.Since(s.begun).Seconds(), Pods: s.pods, PodsCreated: created, Resizes: resizes,
		PodsChecked: s.checked, RatioChanges: s.changer.turns, APIServerRestarts: s.restarts,
		SecondsAfterKill: s.afterKill, SecondsAfterTerm: s.afterTerm, Sizings: s.judge.fared(), Problems: problems,
	}
	if s.checked == 0 {
		r.Problems = append(r.Problems, "no pod was checked at the end")
	}
	if s.churn != nil {
		r.PodsDeleted, r.DeletionsFailed = s.churn.deleted.Load(), s.churn.failed.Load()
		r.DeletedInTime, r.NotDeletedInTime = s.churn.inTime.Load(), s.churn.missed.Load()
		r.CreatedPerSecond = float64(s.created) / max(1, s.moving.Seconds())
		r.DeletedPerSecond = float64(r.PodsDeleted) / max(1, s.moving.Seconds())
		r.DeletedPerActiveSecond = float64(r.DeletedInTime) / max(1, time.Duration(s.churn.active.Load()).Seconds())
	}
	r.judgeCourse(s.options)
	r.judgeMemory(s.replicas)
	r.judgeTail(s.replicas, s.tailBegan, s.tailEnded)
	r.judgeGoroutines(s.sampler.quiets)
	return r
}

// close ends everything and keeps the ends of the servers' logs.
func (s *soak) close() error {
	var errs []error
	for _, r := range s.replicas {
		errs = append(errs, r.keepLog(s.dir), r.close())
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Down())
	}
	if len(s.replicas) > 0 {
		say("the ends of the servers' logs are in %s", s.dir)
	}
	return errors.Join(errs...)
}

func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().UTC().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
