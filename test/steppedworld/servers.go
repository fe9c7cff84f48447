package steppedworld

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/steppedclock"
)

// program is the server whose clock can be moved.
const program = "workload-resizer-stepped"

// Servers are two servers of a cluster, whose clock a test moves.
type Servers struct {
	name, kubeconfig string
	args             []string
	replicas         []*replica
	// Began is when time began, and At is what time it is.
	Began, At time.Time
	// pending are usages that no server has taken yet, the oldest first.
	pending []*workloadresizerv1.ContainerUsage
	Tally   Tally
}

// Tally counts what happened.
type Tally struct {
	Kills, Reports, Rejected, Dropped int
	// Takeover is the longest time until another server collected after a kill.
	Takeover time.Duration
	Faults   []string
}

// replica is a process of the server.
type replica struct {
	server *localcluster.Server
	api    *client.Client
	clock  *steppedclock.Clock
}

// Start starts two servers at a time. They collect only usage that is reported. Messages call their world by the name.
func Start(t *testing.T, name, kubeconfig string, at time.Time, args ...string) *Servers {
	t.Helper()
	s := &Servers{name: name, kubeconfig: kubeconfig, args: args, Began: at, At: at}
	for range 2 {
		r, err := s.start(t)
		if err != nil {
			t.Fatal(err)
		}
		s.replicas = append(s.replicas, r)
	}
	t.Cleanup(func() {
		for _, r := range s.replicas {
			_ = r.api.Close()
			if err := r.server.Stop(); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
			if t.Failed() {
				t.Logf("%s: the end of a server's log:\n%s", s.name, localcluster.Tail(r.server.Log(), 20))
			}
		}
	})
	return s
}

// start starts a server.
func (s *Servers) start(t *testing.T) (*replica, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clock")
	clock, err := steppedclock.Create(path, s.At)
	if err != nil {
		return nil, err
	}
	server, err := localcluster.StartServer(context.Background(), localcluster.ServerOptions{
		Program: program, Kubeconfig: s.kubeconfig,
		Args: append([]string{"--usage-sources=push", "--leader-lease-duration=10s"}, s.args...),
		Env:  []string{steppedclock.Variable + "=" + path},
	})
	if err != nil {
		return nil, err
	}
	api, err := client.Dial(server.GRPCAddress)
	if err != nil {
		return nil, errors.Join(err, server.Kill())
	}
	return &replica{server, api, clock}, nil
}

// Move moves the clock of all servers, and waits until they have followed.
func (s *Servers) Move(t *testing.T, to time.Time) {
	t.Helper()
	s.At = to
	for _, r := range s.replicas {
		if err := r.clock.Move(to); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(localcluster.Patience); ; time.Sleep(2 * time.Millisecond) {
		behind := slices.ContainsFunc(s.replicas, func(r *replica) bool {
			at, err := r.clock.Reached()
			return err != nil || at.Before(to)
		})
		if !behind {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: the servers do not follow the clock", s.name)
		}
	}
}

// collector returns the server that collects usage; nil if none does.
func (s *Servers) collector(ctx context.Context) *replica {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, r := range s.replicas {
		if status, err := r.api.GetUsageStatus(ctx); err == nil && status.GetCollecting() {
			return r
		}
	}
	return nil
}

// AwaitCollector lets time pass slowly until a server collects, and returns its client.
func (s *Servers) AwaitCollector(t *testing.T, until time.Time) *client.Client {
	t.Helper()
	return s.awaitCollector(t, until).api
}

func (s *Servers) awaitCollector(t *testing.T, until time.Time) *replica {
	t.Helper()
	for deadline := time.Now().Add(localcluster.Patience); ; {
		if r := s.collector(t.Context()); r != nil {
			return r
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: no server collects usage", s.name)
		}
		time.Sleep(100 * time.Millisecond)
		if next := s.At.Add(time.Second); next.Before(until) {
			s.Move(t, next)
		}
	}
}

// KillLeader kills the server that collects, without a warning, and starts another one when the time is over.
func (s *Servers) KillLeader(t *testing.T, until time.Time) {
	t.Helper()
	leader := s.awaitCollector(t, until)
	killed := s.At
	s.Tally.Kills++
	i := slices.Index(s.replicas, leader)
	_ = leader.api.Close()
	if err := leader.server.Kill(); err != nil {
		t.Fatal(err)
	}
	s.replicas = slices.Delete(s.replicas, i, i+1)
	s.awaitCollector(t, until)
	s.Tally.Takeover = max(s.Tally.Takeover, s.At.Sub(killed))
	fresh, err := s.start(t)
	if err != nil {
		t.Fatal(err)
	}
	s.replicas = append(s.replicas, fresh)
}

// Fault notes what must not have happened.
func (s *Servers) Fault(format string, args ...any) {
	if len(s.Tally.Faults) < 20 {
		s.Tally.Faults = append(s.Tally.Faults, fmt.Sprintf("%s, day %.2f: ", s.name, s.At.Sub(s.Began).Hours()/24)+fmt.Sprintf(format, args...))
	}
}
