package client

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
)

// checkAddress refuses what is not "host:port" with a host that is this
// machine.
func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("server address %q is not host:port: %w", address, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("server address %q: port %q is not a number from 1 to 65535", address, port)
	}
	if !strings.EqualFold(host, "localhost") && !isLoopback(host) {
		return notLoopback(address)
	}
	return nil
}

// dialLoopback connects to address and looks at the IP that it really goes to:
// a resolver can answer anything for "localhost".
func dialLoopback(ctx context.Context, address string) (net.Conn, error) {
	dialer := net.Dialer{
		ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			host, _, err := net.SplitHostPort(resolved)
			if err != nil || !isLoopback(host) {
				return notLoopback(resolved)
			}
			return nil
		},
	}
	return dialer.DialContext(ctx, "tcp", address)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func notLoopback(address string) error {
	return fmt.Errorf("server address %q is not on this machine, and the connection is plaintext, which is for this machine only "+
		"(127.0.0.0/8, ::1, localhost): use a port-forward to a server elsewhere", address)
}
