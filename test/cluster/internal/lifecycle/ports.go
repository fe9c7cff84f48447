package lifecycle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// Ports are chosen below the range that the kernel uses for outgoing connections.
// Otherwise, a connection could occupy the port of a component that is stopped for a
// while.
const (
	firstPort = 20000
	portCount = 10000
)

// reservation listens on ports until the components that use them start, so that clusters that
// come up at the same time do not choose the same ports.
type reservation struct {
	ports     state.Ports
	listeners map[string][]net.Listener
}

// wantedPort is a port to reserve for a component. given is the port number, or 0 for
// any.
type wantedPort struct {
	component string
	port      *int
	given     int
}

// reservePorts reserves a free port for every listener and stores the nodes' ports in the
// cluster's nodes. apiServer is the API server's port, or 0 for any.
func reservePorts(apiServer int, cluster *state.Cluster) (*reservation, error) {
	r := &reservation{listeners: map[string][]net.Listener{}}
	wanted := []wantedPort{
		{state.APIServer, &r.ports.APIServer, apiServer},
		{state.ControllerManager, &r.ports.ControllerManager, 0},
		{state.Scheduler, &r.ports.Scheduler, 0},
		{state.Etcd, &r.ports.EtcdClient, 0},
		{state.Etcd, &r.ports.EtcdPeer, 0},
	}
	for i := range cluster.Nodes {
		node := &cluster.Nodes[i]
		component := state.NodeComponent(node.Name)
		wanted = append(wanted, wantedPort{component, &node.KubeletPort, 0}, wantedPort{component, &node.ExporterPort, 0})
	}
	if cluster.MetricsServer != "" {
		wanted = append(wanted, wantedPort{state.MetricsServer, &r.ports.MetricsServer, 0})
	}
	if cluster.Prometheus != "" {
		wanted = append(wanted, wantedPort{state.Prometheus, &r.ports.Prometheus, 0})
	}
	for _, want := range wanted {
		listener, err := listen(want.given, cluster.Dir)
		if err != nil {
			r.releaseAll()
			return nil, fmt.Errorf("reserve a port for %s: %w", want.component, err)
		}
		*want.port = listener.Addr().(*net.TCPAddr).Port
		r.listeners[want.component] = append(r.listeners[want.component], listener)
	}
	return r, nil
}

// release frees the ports of a component that is about to start.
func (r *reservation) release(component string) {
	for _, listener := range r.listeners[component] {
		listener.Close()
	}
	delete(r.listeners, component)
}

func (r *reservation) releaseAll() {
	for component := range r.listeners {
		r.release(component)
	}
}

// listen listens on a port for a cluster in dir, or on any that is free and that no other cluster uses.
func listen(port int, dir string) (net.Listener, error) {
	if port != 0 {
		return net.Listen("tcp4", localAddress(port))
	}
	claims := filepath.Join(os.TempDir(), "testcluster-ports-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(claims, 0o700); err != nil && !os.IsExist(err) {
		return nil, err
	}
	if err := own(claims); err != nil {
		return nil, err
	}
	for _, offset := range rand.Perm(portCount) {
		file := filepath.Join(claims, strconv.Itoa(firstPort+offset))
		// To listen on the port of another cluster would be in the way of a component that starts just then.
		if taken, err := claimed(file, dir); err != nil || taken {
			continue
		}
		listener, err := net.Listen("tcp4", localAddress(firstPort+offset))
		if err != nil {
			continue
		}
		ours, err := claim(file, dir)
		if err == nil && ours {
			return listener, nil
		}
		listener.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, errors.New("no port is free")
}

// claim claims a port for the cluster in dir, unless another cluster that exists has claimed it. The caller listens on the
// port, so that nobody else claims it meanwhile. A claim outlasts the listener: between its end and the start of the
// component, and while the component is stopped, the port would seem to be free.
func claim(file, dir string) (bool, error) {
	if taken, err := claimed(file, dir); err != nil || taken {
		return false, err
	}
	return true, os.WriteFile(file, []byte(dir), 0o600)
}

// claimed reports whether another cluster that exists has claimed a port.
func claimed(file, dir string) (bool, error) {
	other, err := os.ReadFile(file)
	if os.IsNotExist(err) || err == nil && string(other) == dir {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = state.Load(string(other))
	return !errors.Is(err, state.ErrNone), nil
}

// own returns an error unless a directory belongs to this user alone: in one of others, what looks like a claim may be a link to any file.
func own(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return fmt.Errorf("%s must be a directory that only this user can use: remove it", dir)
	}
	return nil
}

func localAddress(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
