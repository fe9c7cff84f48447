package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// clusterPeriod is how often the cluster is looked at.
	clusterPeriod = 5 * time.Second
	// logTail is how much is shown of the log of what has died, in lines.
	logTail = 20
)

// watchServer fails the demo if the server ends before ctx is done.
func watchServer(ctx context.Context, server *localcluster.Server, logFile string, fail context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
	case <-server.Done():
		fail(fmt.Errorf("the server has ended by itself; the end of its log, %s:\n%s", logFile, localcluster.Tail(server.Log(), logTail)))
	}
}

// watchCluster fails the demo if a component of the cluster dies before ctx is
// done. Stopping one with testcluster is allowed: for a moment that looks like a
// death too, so only one that shows twice in a row counts.
func watchCluster(ctx context.Context, cluster *localcluster.Cluster, fail context.CancelCauseFunc) {
	ticker := time.NewTicker(clusterPeriod)
	defer ticker.Stop()
	var suspects []string
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		dead, err := cluster.Dead(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			fail(fmt.Errorf("the cluster is gone: %w", err))
		}
		if again := inBoth(suspects, dead); len(again) > 0 {
			fail(died(cluster, again))
		}
		suspects = dead
	}
}

func inBoth(a, b []string) []string {
	var both []string
	for _, name := range a {
		if slices.Contains(b, name) {
			both = append(both, name)
		}
	}
	return both
}

func died(cluster *localcluster.Cluster, components []string) error {
	var text strings.Builder
	for _, component := range components {
		file := cluster.LogFile(component)
		content, err := os.ReadFile(file)
		if err != nil {
			content = []byte(err.Error())
		}
		fmt.Fprintf(&text, "%s has ended by itself; the end of its log, %s:\n%s", component, file, localcluster.Tail(string(content), logTail))
	}
	return errors.New(strings.TrimRight(text.String(), "\n"))
}
