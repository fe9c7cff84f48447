package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// work is the cost of a number of writes, in seconds: the time, the CPU of the client
// that sent them, and the CPU of the API server with its etcd.
type work struct{ took, client, cluster float64 }

// cpu returns the seconds of CPU that the API server and etcd have used.
func (c *cluster) cpu() (float64, error) {
	total := 0.0
	for _, component := range []string{"kube-apiserver", "etcd"} {
		content, err := os.ReadFile(filepath.Join(c.Dir, "run", component+".pid"))
		if err != nil {
			return 0, fmt.Errorf("find the process of %s: %w", component, err)
		}
		pid, err := strconv.Atoi(strings.Fields(string(content))[0])
		if err != nil {
			return 0, fmt.Errorf("find the process of %s: %w", component, err)
		}
		seconds, err := cpuOf(pid)
		if err != nil {
			return 0, err
		}
		total += seconds
	}
	return total, nil
}

func cpuOf(pid int) (float64, error) {
	stat, err := localcluster.ProcessStat(pid)
	return stat.CPUTime(), err
}

const (
	// resting is the share of a core below which the cluster is at rest, and restFor is
	// how long to wait for that.
	resting = 0.2
	restFor = time.Minute
)

// rest waits until the cluster has finished earlier work: deleted pods, garbage,
// compaction.
func (b *bench) rest(ctx context.Context) error {
	before, err := b.cluster.cpu()
	if err != nil {
		return err
	}
	busy := 0.0
	for begin := time.Now(); time.Since(begin) < restFor; {
		last := time.Now()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		now, err := b.cluster.cpu()
		if err != nil {
			return err
		}
		if busy = (now - before) / time.Since(last).Seconds(); busy < resting {
			return nil
		}
		before = now
	}
	b.say("  the API server and etcd still use %.2f of a core after %v; measuring nevertheless", busy, restFor)
	return nil
}

// measure waits until the cluster is at rest, calls do, and returns the work of the
// process and of the cluster during the call.
func (b *bench) measure(ctx context.Context, pid int, do func() error) (work, error) {
	if err := b.rest(ctx); err != nil {
		return work{}, err
	}
	before, err := b.cluster.cpu()
	client, none := cpuOf(pid)
	if err := errors.Join(err, none); err != nil {
		return work{}, err
	}
	begin := time.Now()
	if err := do(); err != nil {
		return work{}, err
	}
	w := work{took: time.Since(begin).Seconds()}
	after, err := b.cluster.cpu()
	w.cluster = after - before
	now, none := cpuOf(pid)
	w.client = now - client
	return w, errors.Join(err, none)
}
