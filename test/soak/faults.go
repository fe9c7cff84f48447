package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// away is how long the API server is down during a restart.
const away = 5 * time.Second

// restartAPIServer stops the API server and starts it again. The outage is over when a
// replica leads, because the leader may have lost its Lease.
func restartAPIServer(ctx context.Context, cluster *localcluster.Cluster, replicas []*replica, o *outages) error {
	defer o.begin()()
	if err := cluster.Stop(ctx, "kube-apiserver"); err != nil {
		return err
	}
	if err := wait(ctx, away); err != nil {
		return err
	}
	if err := cluster.Start(ctx, "kube-apiserver"); err != nil {
		return err
	}
	_, err := awaitLeader(ctx, replicas)
	return err
}

// leader returns the one replica that leads.
func leader(ctx context.Context, replicas []*replica) (*replica, error) {
	var found *replica
	for _, r := range replicas {
		s, err := take(ctx, r.now())
		if err != nil {
			continue // It is starting.
		}
		if s.leading && found != nil {
			return nil, errors.New("two replicas report that they lead")
		}
		if s.leading {
			found = r
		}
	}
	if found == nil {
		return nil, errors.New("no replica leads")
	}
	return found, nil
}

// awaitLeader waits until a replica leads, and returns it.
func awaitLeader(ctx context.Context, replicas []*replica) (found *replica, err error) {
	err = patiently(ctx, "find the leader", func() (err error) {
		found, err = leader(ctx, replicas)
		return err
	})
	return found, err
}

// endLeader ends the leading process and starts the next process of its replica. It
// returns how long it took until another process led, which is the end of the outage.
func endLeader(ctx context.Context, replicas []*replica, o *outages, end func(*localcluster.Server) error) (time.Duration, error) {
	old, err := awaitLeader(ctx, replicas)
	if err != nil {
		return 0, err
	}
	if old.spared {
		return 0, fmt.Errorf("%s leads although it must be spared", old.now().name)
	}
	ended, begin := make(chan error, 1), time.Now()
	gone, over := old.now(), o.begin()
	go func() { ended <- errors.Join(end(gone.server), old.start()) }()
	err = patiently(ctx, "wait for another leader", func() error {
		now, err := leader(ctx, replicas)
		if err == nil && now.now() == gone {
			err = errors.New("the same process still leads")
		}
		return err
	})
	over()
	took := time.Since(begin)
	return took, errors.Join(err, <-ended)
}

// awaitReady waits until all replicas are ready.
func awaitReady(ctx context.Context, replicas []*replica) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, r := range replicas {
		if err := r.now().server.WaitReady(ctx); err != nil {
			return err
		}
	}
	return nil
}
