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

// replica is one pod of the Deployment; its container is started again when it was
// killed.
type replica struct {
	container *localcluster.Container
	access    access
	number    int
	// spared is a replica that hardly ever looks whether it could lead: it follows for
	// the whole run, and nobody kills it.
	spared bool

	mu sync.Mutex
	// lives are the processes that it had, the present one last.
	lives []*life
}

const (
	deployment = "workload-resizer"
	// serverName is what the certificate of its servers is for.
	serverName = deployment + "." + deploy.Namespace + ".svc"
)

// access is how its API is asked.
type access struct{ authorityFile, tokenFile string }

// life is one process.
type life struct {
	name   string
	server *localcluster.Server
	api    *client.Client
	// pprofAddress is host:port of its profiles.
	pprofAddress string
	// samples are guarded by the sampler.
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

// start starts its process, with exactly the flags of the Deployment but for ports and
// profiles.
func (r *replica) start() error {
	pprof, err := localcluster.FreeAddress("")
	if err != nil {
		return err
	}
	args := []string{"--pprof-bind-address", pprof}
	if r.spared {
		args = append(args, "--leader-lease-duration=1h", "--leader-renew-deadline=59m", "--leader-retry-period=58m")
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

// now is its present process.
func (r *replica) now() *life {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lives[len(r.lives)-1]
}

// dial returns a client of its present process.
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

// hangUp ends the connection to its present process.
func (r *replica) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.lives[len(r.lives)-1]; l.api != nil {
		_ = l.api.Close()
		l.api = nil
	}
}

// close ends it.
func (r *replica) close() error {
	l := r.now()
	err := l.server.Stop()
	return errors.Join(err, r.container.Close())
}

// keepLog writes the end of the log of its present process into dir.
func (r *replica) keepLog(dir string) error {
	l := r.now()
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("replica-%d.log", r.number)), []byte(l.server.Log()), 0o644)
}
