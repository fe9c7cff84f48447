package chaos

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
)

// fate is the outcome of the write at which a process is killed.
type fate int

const (
	// lost: the API server never receives it.
	lost fate = iota
	// done: the API server executes it, but the process never knows.
	done
	// late: the API server executes it while the next process is at work.
	late
)

// String implements fmt.Stringer.
func (f fate) String() string { return [...]string{"lost", "done", "late"}[f] }

// mortal forwards requests until the process is killed at one of its writes. A dead
// process writes nothing.
type mortal struct {
	// next is unknown until the client is created.
	next http.RoundTripper
	fate fate
	// heir sends the write that a dead process left in flight. It is called at the write
	// to which heirIn counts down.
	heir   func()
	heirIn int
	// dead is closed when the process dies, and after its last write if that is done.
	dead chan struct{}

	mu sync.Mutex
	// left is the number of remaining writes, including the one at which the process
	// dies. If it is negative, the process never dies.
	left int
	// wrote are the steps that were written, including the last one, and paths are their
	// paths.
	wrote, paths []string
	// bequest sends the late write.
	bequest func()
}

var errDead = errors.New("the process is dead")

// wrap returns the configuration of a client that dies.
func (m *mortal) wrap(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		m.next = next
		return m
	})
	return config
}

// RoundTrip implements http.RoundTripper.
func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return m.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	subresource := ""
	if strings.HasSuffix(r.URL.Path, "/resize") {
		subresource = "resize"
	}
	m.mu.Lock()
	if m.left == 0 {
		m.mu.Unlock()
		return nil, errDead
	}
	if m.heirIn--; m.heir != nil && m.heirIn < 0 {
		m.heir()
		m.heir = nil
	}
	m.left--
	dies := m.left == 0
	m.wrote = append(m.wrote, stepOf(subresource, body))
	m.paths = append(m.paths, r.URL.Path)
	m.mu.Unlock()

	send := func(ctx context.Context) (*http.Response, error) {
		again := r.Clone(ctx)
		again.Body = io.NopCloser(bytes.NewReader(body))
		return m.next.RoundTrip(again)
	}
	if !dies {
		answer, err := send(r.Context())
		if err == nil && answer.StatusCode == http.StatusConflict {
			m.takeBack(false)
		}
		return answer, err
	}
	switch m.fate {
	case lost:
	case done:
		answer, err := send(r.Context())
		if err == nil && answer.StatusCode == http.StatusConflict {
			m.takeBack(true)
			return answer, nil
		}
		drop(answer, err)
	case late:
		m.bequest = func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), writeTimeout)
			defer cancel()
			drop(send(ctx))
		}
	}
	close(m.dead)
	return nil, errDead
}

// takeBack uncounts a write that the API server refused because the pod has changed: the
// process dies one write later. A process that has died at another write stays dead.
func (m *mortal) takeBack(dying bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left > 0 || dying {
		m.left++
		m.wrote, m.paths = m.wrote[:len(m.wrote)-1], m.paths[:len(m.paths)-1]
	}
}

// drop closes a response that nothing reads.
func drop(answer *http.Response, err error) {
	if err == nil {
		_ = answer.Body.Close()
	}
}

// stepOf returns the name of the reconciler's step to which a write belongs.
func stepOf(subresource string, body []byte) string {
	has := func(text string) bool { return bytes.Contains(body, []byte(text)) }
	switch {
	case subresource == "resize":
		return "resize"
	case has(`"managedFields"`):
		return "clean"
	case has("/original-") && has("/applied-at"):
		return "record"
	case has("/original-"):
		return "originals"
	case has("/applied-"), has("/adopted-"):
		return "applied"
	}
	return "unknown"
}
