package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/grpc"
)

// unixScheme starts the address of a Unix socket, whose path follows.
const unixScheme = "unix://"

// SocketPath returns the path of an address of the form "unix:///path", and false for other
// addresses.
func SocketPath(address string) (path string, ok bool) {
	return strings.CutPrefix(address, unixScheme)
}

// LocalAddress returns the address of the Unix socket where a server that runs as this user
// listens by default: workload-resizer.sock in $XDG_RUNTIME_DIR or, without that, in the
// directory workload-resizer of the user's caches. The error is that the environment names
// neither.
func LocalAddress() (string, error) {
	const name = "workload-resizer.sock"
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return unixScheme + filepath.Join(dir, name), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the directory of the local server's socket: XDG_RUNTIME_DIR is not set, and %w", err)
	}
	return unixScheme + filepath.Join(dir, "workload-resizer", name), nil
}

// CheckSocket returns an error if there is no socket at path that belongs to this user. The
// server behind any other socket may be anybody's.
func CheckSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is not a socket", path)
	case !isMine(info):
		return fmt.Errorf("%s belongs to another user", path)
	}
	return nil
}

// dialSocket returns a client of the server at a Unix socket.
func (o *options) dialSocket(path string) (*Client, error) {
	switch {
	case !filepath.IsAbs(path):
		return nil, fmt.Errorf("server address %q is not unix:///PATH with an absolute path", unixScheme+path)
	case o.tls.wanted:
		return nil, errors.New("options for TLS cannot be combined with a Unix socket, which never leaves this machine")
	}
	o.plaintext = true
	o.extra = append(o.extra, grpc.WithNoProxy(), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}))
	return o.dial("passthrough:///localhost", "localhost", true)
}
