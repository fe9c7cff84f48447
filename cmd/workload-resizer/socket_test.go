package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestSocket(t *testing.T) {
	t.Run("only its user can reach the server", onlyItsUserCanReachTheServer)
	t.Run("a socket that a server left behind is replaced", aSocketThatAServerLeftBehindIsReplaced)
	t.Run("a socket in use is an error", aSocketInUseIsAnError)
	t.Run("unsafe places are refused", unsafePlacesAreRefused)
	t.Run("a standalone server answers there without credentials", aStandaloneServerAnswersThereWithoutCredentials)
}

// inPrivate returns the path of a socket in a directory that only this user may enter.
func inPrivate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "s.sock")
}

func listening(t *testing.T, path string) net.Listener {
	t.Helper()
	listener, err := listenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func onlyItsUserCanReachTheServer(t *testing.T) {
	// The directory does not exist yet, and the mask would let everyone in.
	path := filepath.Join(filepath.Dir(inPrivate(t)), "new", "s.sock")
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	listening(t, path)
	for file, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700, path + ".lock": 0o600} {
		info, err := os.Lstat(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", file, got, want)
		}
	}
	if err := client.CheckSocket(path); err != nil {
		t.Error(err)
	}
}

func aSocketThatAServerLeftBehindIsReplaced(t *testing.T) {
	path := inPrivate(t)
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	listening(t, path)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func aSocketInUseIsAnError(t *testing.T) {
	path := inPrivate(t)
	first := listening(t, path)
	if _, err := listenSocket(path); err == nil || !strings.Contains(err.Error(), "another server listens at "+path) {
		t.Errorf("got %v", err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the first server is no longer reachable: %v", err)
	}
	_ = conn.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	listening(t, path)
}

func unsafePlacesAreRefused(t *testing.T) {
	path := inPrivate(t)
	open := filepath.Join(filepath.Dir(path), "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(path), "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ path, want string }{
		"a directory that others may enter": {filepath.Join(open, "s.sock"), "other users may enter the directory " + open},
		"a link to a directory":             {filepath.Join(link, "s.sock"), "is not a directory"},
		"a file in its place":               {path, "is not a socket: remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			if listener, err := listenSocket(tc.path); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error with %q", listener, err, tc.want)
			}
		})
	}
	if os.Geteuid() == 0 {
		t.Run("a directory of another user", func(t *testing.T) {
			other := filepath.Join(filepath.Dir(path), "other")
			if err := os.Mkdir(other, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(other, 4711, 4711); err != nil {
				t.Fatal(err)
			}
			if _, err := listenSocket(filepath.Join(other, "s.sock")); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func aStandaloneServerAnswersThereWithoutCredentials(t *testing.T) {
	path := inPrivate(t)
	t.Setenv("XDG_RUNTIME_DIR", filepath.Dir(path))
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("baselineNodeType: n4\nnodeTypes: { n4: { cpuPerf: 1, memPerf: 1 } }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := newCommand()
	command.SetArgs([]string{"serve", "--standalone", "--config", config, "--http-bind-address", "127.0.0.1:0"})
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	address, err := client.LocalAddress()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	localcluster.Eventually(t, "the server to answer", func() error { _, err := c.ListRatios(ctx); return err })
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, err := os.Lstat(strings.TrimPrefix(address, "unix://")); !os.IsNotExist(err) {
		t.Errorf("the socket still exists: %v", err)
	}
}
