package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// replica is one pod of the Deployment. If its process is killed, the container is started again.
type replica struct {
	container *localcluster.Container
	access    access
	number    int
	// spared is whether the replica hardly ever tries to lead. It then follows for the
	// whole run and is never killed.
	spared bool

	mu sync.Mutex
	// lives are the processes of the replica, the current one last.
	lives []*life
}

const (
	deployment = "workload-resizer"
	// serverName is the name in the certificate of the servers.
	serverName = deployment + "." + deploy.Namespace + ".svc"
)

// access has the credentials for the replica's API.
type access struct{ authorityFile, tokenFile string }

// life is one process of a replica.
type life struct {
	name   string
	server *localcluster.Server
	api    *client.Client
	// pprofAddress is the host:port at which the process serves its profiles.
	pprofAddress string
	// samples is guarded by the sampler.
	samples []sample
}

// startReplica starts the container of one pod.
func startReplica(ctx context.Context, cluster *localcluster.Cluster, a access, number int, spared bool) (*replica, error) {
	container, err := localcluster.NewContainer(ctx, cluster.Config(), deploy.Namespace, deployment)
	if err != nil {
		return nil, err
	}
	r := &replica{container: container, access: a, number: number, spared: spared}
	if err := r.start(); err != nil {
		return nil, errors.Join(err, container.Close())
	}
	return r, nil
}

// start starts a process of the replica, with exactly the flags of the Deployment
// except for ports, profiles and, if spared, the leader election.
func (r *replica) start() error {
	pprof, err := localcluster.FreeAddress("")
	if err != nil {
		return err
	}
	args := []string{"--pprof-bind-address", pprof}
	if r.spared {
		// It reads the Lease when it starts, and then not for more than an hour.
		args = append(args, "--leader-lease-duration=48h")
	}
	server, err := localcluster.StartServer(context.Background(), localcluster.ServerOptions{Container: r.container, Args: args})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lives = append(r.lives, &life{
		name: fmt.Sprintf("replica %d, process %d", r.number, len(r.lives)+1), server: server, pprofAddress: pprof,
	})
	return nil
}

// now returns the replica's current process.
func (r *replica) now() *life {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lives[len(r.lives)-1]
}

// dial returns a client for the replica's current process.
func (r *replica) dial() (*client.Client, error) {
	l := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.api != nil {
		return l.api, nil
	}
	var err error
	l.api, err = client.Dial(l.server.GRPCAddress, client.WithCAFile(r.access.authorityFile),
		client.WithServerName(serverName), client.WithTokenFile(r.access.tokenFile))
	return l.api, err
}

// hangUp closes the connection to the replica's current process.
func (r *replica) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.lives[len(r.lives)-1]; l.api != nil {
		_ = l.api.Close()
		l.api = nil
	}
}

// close ends the replica.
func (r *replica) close() error {
	l := r.now()
	err := l.server.Stop()
	return errors.Join(err, r.container.Close())
}

// keepLog writes the end of the log of the replica's current process to dir.
func (r *replica) keepLog(dir string) error {
	l := r.now()
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("replica-%d.log", r.number)), []byte(l.server.Log()), 0o644)
}
