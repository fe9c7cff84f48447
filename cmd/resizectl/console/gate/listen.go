package gate

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// tries is how many ports are tried.
const tries = 20

// Listen listens on a port of this machine, by both its addresses: a browser may take either, and if another user had the same port of
// the other one, that user would see the login. Port 0 means any free port.
func Listen(port int) ([]net.Listener, int, error) {
	for try := range tries {
		four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return nil, 0, fmt.Errorf("listen on this machine: %w", err)
		}
		got := four.Addr().(*net.TCPAddr).Port
		six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(got)))
		switch {
		case err == nil:
			return []net.Listener{four, six}, got, nil
		case !errors.Is(err, syscall.EADDRINUSE): // The machine has no such address.
			return []net.Listener{four}, got, nil
		}
		_ = four.Close()
		if port != 0 || try == tries-1 {
			return nil, 0, fmt.Errorf("listen on this machine: port %d of [::1] is in use by another process", got)
		}
	}
	panic("unreachable: the last try returns")
}
