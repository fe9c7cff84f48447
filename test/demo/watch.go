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
	// clusterPeriod is how often the cluster is checked.
	clusterPeriod = 5 * time.Second
	// logTail is how many lines of a dead component's log are shown.
	logTail = 20
)

// watchServer fails the demo if the server ends before ctx is done.
func watchServer(ctx context.Context, server *localcluster.Server, logFile string, fail context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
	case <-server.Done():
		fail(fmt.Errorf("the server ended unexpectedly; the last lines of its log, %s:\n%s", logFile, localcluster.Tail(server.Log(), logTail)))
	}
}

// watchCluster fails the demo if a component of the cluster dies before ctx is done. The user
// may stop components with testcluster. For a moment, a stopped component looks dead, so a
// component counts as dead only if it is dead in two consecutive checks.
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
		fmt.Fprintf(&text, "%s ended unexpectedly; the last lines of its log, %s:\n%s", component, file, localcluster.Tail(string(content), logTail))
	}
	return errors.New(strings.TrimRight(text.String(), "\n"))
}
