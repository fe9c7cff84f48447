package lifecycle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// Ports are chosen below the range that the kernel uses for outgoing connections.
// Otherwise, a connection could occupy the port of a component that is stopped for a
// while.
const (
	firstPort = 20000
	portCount = 10000
)

// reservation holds ports until the components that use them start, so that clusters that
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
		listener, err := listen(want.given)
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

func listen(port int) (net.Listener, error) {
	if port != 0 {
		return net.Listen("tcp4", localAddress(port))
	}
	for _, offset := range rand.Perm(portCount) {
		if listener, err := net.Listen("tcp4", localAddress(firstPort+offset)); err == nil {
			return listener, nil
		}
	}
	return nil, errors.New("no port is free")
}

func localAddress(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
