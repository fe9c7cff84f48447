package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/process"
	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// starter starts components as processes of this program and waits for them.
type starter struct {
	cluster    *state.Cluster
	executable string
	prober     *prober
	owner      *os.File
	// fail cancels the context of the whole operation as soon as one of the components
	// ends.
	fail context.CancelCauseFunc
}

// newStarter returns a starter and the context to use with it. The caller must close the
// starter.
func newStarter(ctx context.Context, cluster *state.Cluster, kubeconfig []byte) (*starter, context.Context, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	prober, err := newProber(cluster, kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	owner, err := openOwner(cluster)
	if err != nil {
		return nil, nil, err
	}
	ctx, fail := context.WithCancelCause(ctx)
	return &starter{
		cluster:    cluster,
		executable: executable,
		prober:     prober,
		owner:      owner,
		fail:       fail,
	}, ctx, nil
}

func (s *starter) close() {
	s.fail(nil)
	if s.owner != nil {
		s.owner.Close()
	}
}

// openOwner opens the cluster's owner. It checks that the pid has not been reused by
// another process.
func openOwner(cluster *state.Cluster) (*os.File, error) {
	if cluster.Owner == nil {
		return nil, nil
	}
	owner, err := process.OpenOwner(cluster.Owner.PID)
	if err != nil {
		return nil, err
	}
	if !cluster.Owner.Alive() {
		owner.Close()
		return nil, fmt.Errorf("owner process %d has ended", cluster.Owner.PID)
	}
	return owner, nil
}

// start starts a component without waiting for it to be ready.
func (s *starter) start(ctx context.Context, component string) error {
	arguments := []string{"run", "--dir", s.cluster.Dir}
	if s.owner != nil {
		arguments = append(arguments, "--owned")
	}
	child, err := process.Start(ctx, process.Spec{
		PIDFile: s.cluster.PIDFile(component),
		LogFile: s.cluster.LogFile(component),
		Dir:     s.cluster.Dir,
		Path:    s.executable,
		Args:    append(arguments, component),
		Env:     os.Environ(),
		Owner:   s.owner,
	})
	if err != nil {
		return s.failure(component, err)
	}
	go func() {
		select {
		case <-child.Done():
			err := child.Err()
			if err == nil {
				err = errors.New("exit status 0")
			}
			s.fail(s.failure(component, fmt.Errorf("ended too early: %w", err)))
		case <-ctx.Done():
		}
	}()
	return nil
}

// awaitReady waits until a started component is ready. since is as in prober.check.
func (s *starter) awaitReady(ctx context.Context, component string, since time.Time) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		notReady := s.prober.check(ctx, component, since)
		if notReady == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			cause := context.Cause(ctx)
			if errors.Is(cause, context.DeadlineExceeded) {
				return s.failure(component, fmt.Errorf("did not become ready in time: %w", notReady))
			}
			return cause
		case <-ticker.C:
		}
	}
}

// failure returns the error of a component. If another component's failure ended the wait for it, that is the error.
func (s *starter) failure(component string, err error) error {
	if other := (*ComponentError)(nil); errors.As(err, &other) {
		return other
	}
	return &ComponentError{Component: component, LogFile: s.cluster.LogFile(component), Err: err}
}
