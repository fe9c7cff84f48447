package lifecycle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/state"
)

// Ports are taken from below the range that the kernel gives to outgoing
// connections: one of those could otherwise sit on the port of a component that
// is stopped for a while.
const (
	firstPort = 20000
	portCount = 10000
)

// reservation holds ports until the components that are to listen on them
// start, so that clusters that come up at the same time do not choose alike.
type reservation struct {
	ports     state.Ports
	listeners map[string][]net.Listener
}

// reservePorts reserves a free port for everything that listens. The API
// server's may be given, 0 means any.
func reservePorts(apiServer int) (*reservation, error) {
	r := &reservation{listeners: map[string][]net.Listener{}}
	for _, wanted := range []struct {
		component string
		port      *int
		given     int
	}{
		{state.APIServer, &r.ports.APIServer, apiServer},
		{state.ControllerManager, &r.ports.ControllerManager, 0},
		{state.Scheduler, &r.ports.Scheduler, 0},
		{state.Etcd, &r.ports.EtcdClient, 0},
		{state.Etcd, &r.ports.EtcdPeer, 0},
	} {
		listener, err := listen(wanted.given)
		if err != nil {
			r.releaseAll()
			return nil, fmt.Errorf("reserve a port for %s: %w", wanted.component, err)
		}
		*wanted.port = listener.Addr().(*net.TCPAddr).Port
		r.listeners[wanted.component] = append(r.listeners[wanted.component], listener)
	}
	return r, nil
}

// release frees the ports of a component, which is about to start.
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
