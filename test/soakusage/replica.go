package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// replica is a server that is started again when it was killed.
type replica struct {
	kubeconfig string

	mu     sync.Mutex
	server *localcluster.Server
	api    *client.Client
	// ready is when the process was first seen to be ready; zero before that.
	ready time.Time
}

// start starts a process. Its callers are local, so that it answers them without an API server.
func (r *replica) start() error {
	server, err := localcluster.StartServer(context.Background(), localcluster.ServerOptions{Kubeconfig: r.kubeconfig, Args: []string{
		"--usage-interval=10s", "--leader-lease-duration", "15s",
	}})
	if err != nil {
		return err
	}
	api, err := client.Dial(server.GRPCAddress)
	if err != nil {
		return errors.Join(err, server.Kill())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.server, r.api, r.ready = server, api, time.Time{}
	return nil
}

// kill kills the process and starts the next one.
func (r *replica) kill() error {
	r.mu.Lock()
	server, api := r.server, r.api
	r.mu.Unlock()
	return errors.Join(api.Close(), server.Kill(), r.start())
}

func (r *replica) stop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.api.Close(), r.server.Stop())
}

// leads reports whether the replica leads.
func (r *replica) leads(ctx context.Context) bool {
	r.mu.Lock()
	server := r.server
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	metrics, err := server.Metrics(ctx)
	if err != nil {
		return false
	}
	leading, err := metrics.Sum("workload_resizer_leading", nil)
	return err == nil && leading == 1
}

// usageStatus returns the state of the collection.
func (r *replica) usageStatus(ctx context.Context) (*workloadresizerv1.GetUsageStatusResponse, error) {
	r.mu.Lock()
	api := r.api
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return api.GetUsageStatus(ctx)
}

// patience is how long a call may take.
const patience = 10 * time.Second

// answer is what a replica says of a workload. It is nil if it does not answer: it is starting.
type answer struct {
	// size is nil if there is no recommendation.
	size *workloadresizerv1.ResourceAmounts
	// age is how long the replica has been ready.
	age time.Duration
}

// ask asks for the recommendation for a workload.
func (r *replica) ask(ctx context.Context, w *workload) *answer {
	r.mu.Lock()
	api, server := r.api, r.server
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	got, err := api.GetRecommendation(ctx, namespace, &workloadresizerv1.Workload{Kind: w.kind, Name: w.name})
	if code := status.Code(err); err != nil && code != codes.NotFound {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != server {
		return nil
	}
	if r.ready.IsZero() {
		r.ready = time.Now()
	}
	a := &answer{age: time.Since(r.ready)}
	for _, c := range got.GetContainers() {
		a.size = c.GetRecommendation().GetBaseline().GetTarget()
	}
	return a
}
