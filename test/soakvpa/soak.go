package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// settle is how long both may take until they have a target of each workload.
const settle = 2 * time.Minute

// run compares both recommenders on a new cluster.
func run(ctx context.Context, o options) (err error) {
	crds, err := os.ReadFile(o.crds)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "soak-vpa-")
	if err != nil {
		return err
	}
	fmt.Println("Starting a cluster whose containers work")
	cluster, err := localcluster.Up(ctx, localcluster.Options{Dir: filepath.Join(dir, "cluster"), Nodes: "n4=2", MetricsServer: true})
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, cluster.Down()); err == nil {
			err = os.RemoveAll(dir)
		}
	}()
	before, deployments := manifests()
	if err := localcluster.Apply(ctx, cluster.Config(), crds); err != nil {
		return err
	}
	// The API server serves a new kind after a moment.
	if err := wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, false, func(ctx context.Context) (bool, error) {
		err = localcluster.Apply(ctx, cluster.Config(), before)
		return err == nil, nil
	}); err != nil {
		return fmt.Errorf("apply the VPAs: %w", errors.Join(err, context.Cause(ctx)))
	}
	ours, err := newOurs(cluster.Config())
	if err != nil {
		return err
	}
	theirs, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended, err := startTheirs(ctx, cluster.Kubeconfig, filepath.Join(dir, "vpa-recommender.log"))
	if err != nil {
		return err
	}
	if err := localcluster.Apply(ctx, cluster.Config(), deployments); err != nil {
		return err
	}
	fmt.Printf("Comparing targets for %v; the log of the VPA's recommender is in %s\n", o.duration, dir)
	s := &soak{options: o, cluster: cluster, ours: ours, theirs: theirs, ended: ended, tallies: map[string]*tally{}}
	if err := s.compare(ctx); err != nil {
		return err
	}
	if err := s.count(ctx); err != nil {
		return err
	}
	return judge(os.Stdout, s.tallies)
}

// soak is a comparison.
type soak struct {
	options options
	cluster *localcluster.Cluster
	ours    *ours
	theirs  dynamic.Interface
	ended   <-chan error
	tallies map[string]*tally
}

// compare compares until the duration is over. In the middle, metrics-server is down for a while.
func (s *soak) compare(ctx context.Context) error {
	began := time.Now()
	ticker := time.NewTicker(often)
	defer ticker.Stop()
	outage := began.Add(s.options.duration / 2)
	var down bool
	for now := began; now.Sub(began) < s.options.duration; {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-s.ended:
			return err
		case now = <-ticker.C:
		}
		var err error
		switch {
		case !down && now.After(outage) && now.Before(outage.Add(halfLife/4)):
			fmt.Println("Stopping metrics-server")
			down, err = true, s.cluster.Stop(ctx, "metrics-server")
		case down && now.After(outage.Add(halfLife/4)):
			fmt.Println("Starting metrics-server")
			down, err = false, s.cluster.Start(ctx, "metrics-server")
		}
		if err != nil {
			return err
		}
		if err := s.tick(ctx, now.Sub(began) > settle); err != nil {
			return err
		}
	}
	return nil
}

// count counts the samples, and how often containers were killed.
func (s *soak) count(ctx context.Context) error {
	samples, err := theirSamples(ctx, s.theirs)
	if err != nil {
		return err
	}
	for name, t := range s.tallies {
		t.samples, t.ours = samples[name], s.ours.samples(name)
	}
	pods, err := s.ours.feeder.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for i := range pods.Items {
		if t := s.tallies[pods.Items[i].Labels["app"]]; t != nil {
			for _, c := range pods.Items[i].Status.ContainerStatuses {
				t.kills += int(c.RestartCount)
			}
		}
	}
	return nil
}

// tick lets our recommender look, and compares its targets with those of the VPA.
func (s *soak) tick(ctx context.Context, settled bool) error {
	ours, down := s.ours.targets(ctx)
	if ours == nil {
		return down
	}
	theirs, err := theirTargets(ctx, s.theirs)
	if err != nil {
		return err
	}
	for _, w := range workloads {
		a, known := ours[w.name]
		b, alsoKnown := theirs[w.name]
		if !known || !alsoKnown {
			if settled {
				return fmt.Errorf("%s has a target of ours: %t, of the VPA: %t, after %v", w.name, known, alsoKnown, settle)
			}
			continue
		}
		if s.tallies[w.name] == nil {
			s.tallies[w.name] = &tally{}
		}
		s.tallies[w.name].add(b, a)
	}
	return nil
}
