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

// hostOf returns the host of an address of the form "host:port".
func hostOf(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("server address %q is not host:port: %w", address, err)
	}
	if host == "" || strings.ContainsAny(host, "/?#") {
		return "", fmt.Errorf("server address %q is not host:port: %q is not a host", address, host)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("server address %q: port %q is not a number from 1 to 65535", address, port)
	}
	return host, nil
}

// isLocal reports whether host names this machine. dialLoopback checks which IP address
// the name resolves to.
func isLocal(host string) bool {
	return strings.EqualFold(host, "localhost") || isLoopback(host)
}

// dialLoopback connects to address and checks the IP address that it resolves to: a
// resolver can return anything for "localhost".
func dialLoopback(ctx context.Context, address string) (net.Conn, error) {
	dialer := net.Dialer{
		ControlContext: func(_ context.Context, _, resolved string, _ syscall.RawConn) error {
			host, _, err := net.SplitHostPort(resolved)
			if err != nil || !isLoopback(host) {
				return fmt.Errorf("server address %q is not on this machine, although its host name is local: refusing a plaintext connection", resolved)
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
