package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// often is how often the replicas are asked.
const often = 2 * time.Second

// soak is a cluster and two servers.
type soak struct {
	options
	judge
	dir      string
	cluster  *localcluster.Cluster
	client   kubernetes.Interface
	replicas []*replica
}

// run disturbs the servers on a new cluster, and prints what was seen.
func run(ctx context.Context, o options) (err error) {
	dir, err := os.MkdirTemp("", "soak-usage-")
	if err != nil {
		return err
	}
	s := &soak{options: o, dir: dir}
	say("starting a cluster in %s", dir)
	if s.cluster, err = localcluster.Up(ctx, localcluster.Options{Dir: filepath.Join(dir, "cluster"), Nodes: "n2d=2,n4=1:speed=1.25", MetricsServer: true}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.client, err = kubernetes.NewForConfig(s.cluster.Config()); err != nil {
		return err
	}
	if err := localcluster.Apply(ctx, s.cluster.Config(), append(deploy.Base(), []byte(configuration), manifests())...); err != nil {
		return err
	}
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(ctx, s.cluster.Config(), deploy.Namespace, deploy.ServiceAccount, dir)
	if err != nil {
		return err
	}
	for range 2 {
		r := &replica{kubeconfig: kubeconfig}
		if err := r.start(); err != nil {
			return err
		}
		s.replicas = append(s.replicas, r)
	}
	if err := s.begun(ctx); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	var asking sync.WaitGroup
	for _, r := range s.replicas {
		asking.Go(func() { s.watch(watching, r) })
	}
	err = s.disturb(ctx)
	stop()
	asking.Wait()
	return errors.Join(err, s.print(os.Stdout))
}

// close ends everything.
func (s *soak) close() error {
	var errs []error
	for i, r := range s.replicas {
		errs = append(errs, r.stop(), os.WriteFile(filepath.Join(s.dir, fmt.Sprintf("replica-%d.log", i+1)), []byte(r.server.Log()), 0o644))
	}
	say("the ends of the servers' logs are in %s", s.dir)
	return errors.Join(append(errs, s.cluster.Down())...)
}

// begun waits until the history of all workloads is stored, and some more time has passed.
func (s *soak) begun(ctx context.Context) error {
	say("collecting usage for %v", s.warm)
	if err := sleep(ctx, s.warm); err != nil {
		return err
	}
	return patiently(ctx, "the recommendations of both replicas", func() error {
		before := map[string]*workloadresizerv1.ResourceAmounts{}
		for _, r := range s.replicas {
			for i := range workloads {
				w := &workloads[i]
				a := r.ask(ctx, w)
				if a == nil || a.size == nil {
					return fmt.Errorf("none of %s", w.name)
				}
				if b := before[w.name]; b != nil && (moved(b.GetCpu(), a.size.GetCpu()) > most || moved(b.GetMemory(), a.size.GetMemory()) > most) {
					return fmt.Errorf("the replicas differ for %s: %v and %v", w.name, b, a.size)
				}
				before[w.name] = a.size
			}
		}
		s.before = before
		for name, size := range before {
			say("%s: cpu %s, memory %s", name, size.GetCpu(), size.GetMemory())
		}
		return nil
	})
}

// watch asks a replica for all recommendations, again and again.
func (s *soak) watch(ctx context.Context, r *replica) {
	for sleep(ctx, often) == nil {
		for i := range workloads {
			if a := r.ask(ctx, &workloads[i]); ctx.Err() == nil {
				s.see(workloads[i].name, a)
			}
		}
	}
}

// leader waits for the replica that leads.
func (s *soak) leader(ctx context.Context) (leader *replica, err error) {
	err = patiently(ctx, "a leader", func() error {
		for _, r := range s.replicas {
			if r.leads(ctx) {
				leader = r
				return nil
			}
		}
		return errors.New("none leads")
	})
	return leader, err
}

// collecting waits until the leader has counted samples, and returns it.
func (s *soak) collecting(ctx context.Context) (leader *replica, err error) {
	began := time.Now()
	err = patiently(ctx, "a leader that collects", func() error {
		if leader, err = s.leader(ctx); err != nil {
			return err
		}
		status, err := leader.usageStatus(ctx)
		if err != nil {
			return err
		}
		for _, source := range status.GetSources() {
			if status.GetCollecting() && source.GetSampleTime().AsTime().After(began) {
				return nil
			}
		}
		return fmt.Errorf("%v", status)
	})
	return leader, err
}

// ready waits until all pods of a workload are ready.
func (s *soak) ready(ctx context.Context, name string) error {
	return patiently(ctx, "the pods of "+name, func() error {
		d, err := s.client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := d.Status; got.ObservedGeneration < d.Generation || got.UpdatedReplicas < 2 || got.ReadyReplicas < 2 || got.Replicas > 2 {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
}

// patiently tries for a few minutes.
func patiently(ctx context.Context, what string, try func() error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, time.Second, 5*time.Minute, true, func(context.Context) (bool, error) {
		last = try()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w: %w", what, err, last)
	}
	return nil
}

// sleep returns after a while, or with an error when ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
