package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// Its certificate belongs to the address of the API, and nobody else is there to listen.
func TestProfilesOnAUnixSocketHaveNoTLS(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	start(t, setup{server: func(c *Config) {
		c.TLS = &tls.Config{Certificates: []tls.Certificate{{}}}
		c.Pprof, c.PprofAccess = listener, access.New(access.Config{Local: true})
	}})
	if status, body := profiles(t, "unix", path); status != http.StatusOK || !strings.Contains(body, "goroutine") {
		t.Errorf("status %d: %s", status, body)
	}
}

func TestProfilesAtAPortNeedTheRightEvenOnLoopback(t *testing.T) {
	listener := servertest.Listen(t)
	start(t, setup{server: func(c *Config) {
		c.Pprof, c.PprofAccess = listener, access.New(access.Config{Audiences: []string{audience}})
	}})
	const want = `send the header "Authorization: Bearer TOKEN", with a token for the audience ` + audience + " of a user with the right to get debug.workload-resizer.io\n"
	if status, body := profiles(t, "tcp", listener.Addr().String()); status != http.StatusUnauthorized || body != want {
		t.Errorf("status %d: %s", status, body)
	}
}

// profiles requests the list of profiles without credentials.
func profiles(t *testing.T, network, address string) (status int, body string) {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/debug/pprof/", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}
