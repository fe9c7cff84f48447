package gate

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/utils/clock"
)

// served returns the address of a server of pages, and their gate.
func served(t *testing.T) (string, *Gate) {
	g := New(8001, clock.RealClock{})
	s := httptest.NewUnstartedServer(nil)
	s.Config = g.Server(http.NotFoundHandler())
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), g
}

// connect returns a connection that has sent text.
func connect(t *testing.T, address, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// asked returns a connection on which a request was refused.
func asked(t *testing.T, address string) (answer string, after error) {
	t.Helper()
	c := bufio.NewReader(connect(t, address, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"))
	resp, err := http.ReadResponse(c, nil)
	if err != nil {
		return "", err
	}
	if !resp.Close {
		return resp.Status, errors.New("the connection stays")
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_, after = c.ReadByte()
	return resp.Status, after
}

func TestServer(t *testing.T) {
	t.Run("ends a connection after a refusal", func(t *testing.T) {
		address, _ := served(t)
		if answer, after := asked(t, address); !strings.HasPrefix(answer, "421") || !errors.Is(after, io.EOF) {
			t.Errorf("it answers %s, and then %v", answer, after)
		}
	})
	t.Run("reads no long headers", func(t *testing.T) {
		address, g := served(t)
		c := connect(t, address, "GET / HTTP/1.1\r\nHost: "+g.host+"\r\nX: "+strings.Repeat("x", 2*mostHeader)+"\r\n\r\n")
		if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("it answers %v, %v", resp, err)
		}
	})
	t.Run("keeps few connections", func(t *testing.T) {
		address, _ := served(t)
		all := make([]net.Conn, mostConnections)
		for i := range all {
			all[i] = connect(t, address, "GET")
		}
		if answer, err := asked(t, address); err == nil || answer != "" {
			t.Errorf("one more connection is answered with %s, %v", answer, err)
		}
		for _, c := range all {
			_ = c.Close()
		}
		for { // The server sees that soon.
			if answer, _ := asked(t, address); answer != "" {
				break
			}
		}
	})
	t.Run("keeps no idle connection", func(t *testing.T) {
		_, g := served(t)
		if s := g.Server(nil); s.IdleTimeout <= 0 || s.ReadHeaderTimeout <= 0 {
			t.Errorf("a connection may be idle for %s, and a request take %s", s.IdleTimeout, s.ReadHeaderTimeout)
		}
	})
}
