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

// SocketPath returns the path of an address of the form "unix:///path". ok reports whether the
// address means a Unix socket at all. The error is that it does not have this form, or that no
// socket can have this path.
func SocketPath(address string) (path string, ok bool, err error) {
	path, ok = strings.CutPrefix(address, unixScheme)
	switch {
	case strings.HasPrefix(address, "unix-abstract:"):
		return "", true, fmt.Errorf("%q is an abstract socket, which every user of the machine can reach: use unix:///PATH", address)
	case !ok && !strings.HasPrefix(address, "unix:"):
		return "", false, nil
	case !ok || !filepath.IsAbs(path) || strings.HasSuffix(path, "/"):
		return "", true, fmt.Errorf("%q is not unix:///PATH with the absolute path of a socket", address)
	case len(path) > maxSocketPath:
		return "", true, fmt.Errorf("%q has a path of %d bytes, and that of a socket may have %d: use a shorter one, or set XDG_RUNTIME_DIR to a shorter directory if this is the default", address, len(path), maxSocketPath)
	}
	return path, true, nil
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
	if o.tls.wanted {
		return nil, errors.New("options for TLS cannot be combined with a Unix socket, which never leaves this machine")
	}
	o.plaintext = true
	o.extra = append(o.extra, grpc.WithNoProxy(), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}))
	return o.dial("passthrough:///localhost", "localhost", true)
}
