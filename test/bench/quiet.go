package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// idleAfter is how long the server must have had nothing to do to count as idle.
	idleAfter = 5 * time.Second
	// glance is how long the idle server is measured at sizes that are not compared.
	glance = 10 * time.Second
)

// quietServer starts a server that has nothing to write, and returns it when it has
// planned all pods.
func (b *bench) quietServer(ctx context.Context, pods int) (*server, error) {
	s, err := b.cluster.serve(ctx)
	if err != nil {
		return nil, err
	}
	err = s.WaitReady(ctx)
	if err == nil {
		err = b.planned(ctx, s, pods)
	}
	if err != nil {
		b.stop(s)
		return nil, err
	}
	return s, nil
}

// quietCost measures a server that has nothing to write: its start, its CPU when idle,
// and its memory.
func (b *bench) quietCost(ctx context.Context, pods int) (*cost, error) {
	begin := time.Now()
	s, err := b.cluster.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer b.stop(s)
	if err := s.WaitReady(ctx); err != nil {
		return nil, err
	}
	c := &cost{ready: time.Since(begin).Seconds()}
	cpu, err := cpuOf(s.PID())
	if err != nil {
		return nil, err
	}
	b.report.tell(fmt.Sprintf("CPU from start to ready, %d pods", pods), cpu, "s")
	if err := b.planned(ctx, s, pods); err != nil {
		return nil, err
	}
	if c.idle, err = b.idle(ctx, s, pods); err != nil {
		return nil, err
	}
	if c.heap, err = s.heap(ctx); err != nil {
		return nil, err
	}
	if c.rss, err = s.rss(); err != nil {
		return nil, err
	}
	b.say("  ready after %.1f s, heap %.1f MiB, RSS %.1f MiB", c.ready, c.heap/mib, c.rss/mib)
	return c, nil
}

// planned waits until that many pods and the templates are planned. It returns an error
// if any pod was written.
func (b *bench) planned(ctx context.Context, s *server, pods int) error {
	if err := s.until(ctx, 100*time.Millisecond, "plan all pods", func(m metrics) bool {
		return m.sum("workload_resizer_pods") == float64(pods+len(b.quietNames))
	}); err != nil {
		return err
	}
	m, err := s.metrics(ctx)
	if err != nil {
		return err
	}
	if writes := m.sum("workload_resizer_api_writes_total"); writes > 0 {
		return fmt.Errorf("quiet pods were written %v times", writes)
	}
	return nil
}

// idle returns the share of a core that the server uses while nothing happens.
func (b *bench) idle(ctx context.Context, s *server, pods int) (float64, error) {
	quietFor := min(b.quietFor, glance)
	if b.compared(pods) {
		quietFor = b.quietFor
	}
	if _, err := s.settled(ctx, idleAfter); err != nil {
		return 0, err
	}
	before, err := cpuOf(s.PID())
	if err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(quietFor):
	}
	after, err := cpuOf(s.PID())
	share := (after - before) / quietFor.Seconds()
	line := b.report.tell(fmt.Sprintf("idle CPU, %d pods", pods), 100*share, "% of a core")
	if pods == b.quiet {
		line.atMost(1)
	}
	return share, err
}

// startRequests counts the requests that a server sends to the API server until it is
// ready.
func (b *bench) startRequests(ctx context.Context, pods int) (float64, error) {
	proxy, err := localcluster.StartProxy(b.cluster.Config(), nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err := proxy.SetDown(true); err != nil {
			b.say("the proxy did not end cleanly: %v", err)
		}
	}()
	var requests atomic.Int64
	proxy.Interfere(func(*http.Request) localcluster.Action {
		requests.Add(1)
		return localcluster.Forward
	})
	dir, err := os.MkdirTemp(b.cluster.dir, "proxy-")
	if err != nil {
		return 0, err
	}
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(ctx, b.cluster.Config(), deploy.Namespace, deploy.ServiceAccount, dir, localcluster.WithServer(proxy.URL, proxy.CA))
	if err != nil {
		return 0, err
	}
	s, err := b.cluster.serveBy(ctx, kubeconfig)
	if err != nil {
		return 0, err
	}
	defer b.stop(s)
	if err := s.WaitReady(ctx); err != nil {
		return 0, err
	}
	if err := b.planned(ctx, s, pods); err != nil {
		return 0, err
	}
	// One request per pod would be as many as there are pods. A hundredth of that counts
	// as none.
	asked := float64(requests.Load()) + float64(proxy.Writes())
	line := b.report.tell(fmt.Sprintf("API requests until ready, %d pods", pods), asked, "requests")
	if pods >= b.quiet {
		line.atMost(float64(pods) / 100)
	}
	return asked, nil
}

// changeCost returns the seconds of CPU that a change to one node type's ratio takes on
// a server that plans but does not write.
func (b *bench) changeCost(ctx context.Context, pods int) (float64, error) {
	s, err := b.cluster.serve(ctx, "--dry-run")
	if err != nil {
		return 0, err
	}
	defer b.stop(s)
	if err := s.WaitReady(ctx); err != nil {
		return 0, err
	}
	if err := b.planned(ctx, s, pods); err != nil {
		return 0, err
	}
	before, err := s.settled(ctx, time.Second)
	if err != nil {
		return 0, err
	}
	begun, err := cpuOf(s.PID())
	if err != nil {
		return 0, err
	}
	if err := b.cluster.configure(ctx, quietRatios(changedPerf)); err != nil {
		return 0, err
	}
	affected := float64(ofType(changed, pods))
	if err := s.until(ctx, 250*time.Millisecond, "plan the pods of one node type", func(m metrics) bool {
		return m.sum("workload_resizer_pods", "decision", "resize") >= affected
	}); err != nil {
		return 0, err
	}
	ended, err := cpuOf(s.PID())
	if err != nil {
		return 0, err
	}
	// Pods that are planned needlessly may come later.
	after, err := s.settled(ctx, time.Second)
	if err != nil {
		return 0, err
	}
	b.report.tell(fmt.Sprintf("CPU per change to 1 of %d ratios, %d pods", quietTypes, pods), ended-begun, "s")
	b.report.compare(fmt.Sprintf("plans per change to 1 of %d ratios, %d pods", quietTypes, pods), after.sum(plansCounted)-before.sum(plansCounted), affected, "plans").atMost(1)
	return ended - begun, b.cluster.configure(ctx, quietRatios(unchangedPerf))
}
