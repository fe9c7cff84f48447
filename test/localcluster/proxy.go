package localcluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// Proxy runs between a client and an API server, and fails when a test requests it. It forwards
// everything, including watches and tokens, except for client certificates, which end with the
// client's TLS connection. Pass its URL and CA to WithServer.
//
// To clients, failures look like failures of the API server itself: a broken or refused
// connection or, for Answer actions, the response that the API server would send.
type Proxy struct {
	// URL is the URL of the proxy, on loopback.
	URL string
	// CA is the authority of the proxy's certificate (PEM).
	CA []byte

	forward     *httputil.ReverseProxy
	certificate tls.Certificate
	onWrite     func(Write) Action
	writes      atomic.Int64
	onOther     atomic.Pointer[func(*http.Request) Action]

	// mu guards server, which is nil while the proxy is down.
	mu     sync.Mutex
	server *http.Server
}

// StartProxy starts a proxy in front of the API server of cfg. onWrite, if not nil, chooses the
// action for each write to pods. It is called concurrently.
func StartProxy(cfg *rest.Config, onWrite func(Write) Action) (*Proxy, error) {
	p := &Proxy{onWrite: onWrite}
	var err error
	if p.forward, err = newForward(cfg); err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	if p.certificate, p.CA, err = newCertificate(); err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	address, err := FreeAddress("")
	if err != nil {
		return nil, fmt.Errorf("start a proxy: %w", err)
	}
	p.URL = "https://" + address
	if err := p.SetDown(false); err != nil {
		return nil, err
	}
	return p, nil
}

// ProxyForTest starts a proxy that ends with the test.
func ProxyForTest(tb testing.TB, cfg *rest.Config, onWrite func(Write) Action) *Proxy {
	tb.Helper()
	p, err := StartProxy(cfg, onWrite)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := p.SetDown(true); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// newForward returns a handler that forwards to the API server of cfg, with the credentials of
// the client and not those in cfg.
func newForward(cfg *rest.Config) (*httputil.ReverseProxy, error) {
	target, err := url.Parse(cfg.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(&rest.Config{
		Host:            cfg.Host,
		TLSClientConfig: rest.TLSClientConfig{CAData: cfg.CAData, CAFile: cfg.CAFile, ServerName: cfg.ServerName},
	})
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport,
		// Forward the events of a watch immediately.
		FlushInterval: -1,
		ErrorLog:      silent(),
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler)
		},
	}, nil
}

// silent returns a logger that discards messages about broken connections, which are expected
// here.
func silent() *log.Logger { return log.New(io.Discard, "", 0) }

// Writes returns the number of writes to pods that have arrived.
func (p *Proxy) Writes() int { return int(p.writes.Load()) }

// SetDown makes the API server unreachable through the proxy, or reachable again. While it is
// unreachable, all connections are closed and new ones are refused.
func (p *Proxy) SetDown(down bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if down == (p.server == nil) {
		return nil
	}
	if down {
		server := p.server
		p.server = nil
		if err := server.Close(); err != nil {
			return fmt.Errorf("stop the proxy: %w", err)
		}
		return nil
	}
	listener, err := net.Listen("tcp", p.URL[len("https://"):])
	if err != nil {
		return fmt.Errorf("start the proxy: %w", err)
	}
	server := &http.Server{
		Handler:   p,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{p.certificate}},
		ErrorLog:  silent(),
	}
	p.server = server
	go func() {
		// It ends with Close. If it ends otherwise, clients see a refused connection.
		_ = server.ServeTLS(listener, "", "")
	}()
	return nil
}

// Interfere makes onOther choose the action for each request that is not a write to pods, such
// as reads and watches. It is called concurrently. With nil, which is the default, all these
// requests are forwarded.
func (p *Proxy) Interfere(onOther func(*http.Request) Action) {
	if onOther == nil {
		p.onOther.Store(nil)
		return
	}
	p.onOther.Store(&onOther)
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	write, ok := podWrite(r)
	if !ok {
		action := Forward
		if onOther := p.onOther.Load(); onOther != nil {
			action = (*onOther)(r)
		}
		p.act(w, r, action)
		return
	}
	// Read the whole request first, so that it reaches the API server even if the client
	// disconnects.
	body, err := readBody(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	write.Body = body
	write.N = int(p.writes.Add(1))
	action := Forward
	if p.onWrite != nil {
		action = p.onWrite(write)
	}
	p.act(w, r, action)
}

func (p *Proxy) act(w http.ResponseWriter, r *http.Request, action Action) {
	switch action {
	case Forward:
		p.forward.ServeHTTP(w, r)
	case ForwardThenCut, ForwardThenHang:
		p.forwardUnanswered(r)
		if action == ForwardThenHang {
			<-r.Context().Done()
		}
		panic(http.ErrAbortHandler)
	case HangBefore:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case CutBefore:
		panic(http.ErrAbortHandler)
	case CutWhileForwarding:
		ctx, cancel := context.WithTimeout(r.Context(), cutAfter)
		defer cancel()
		p.forward.ServeHTTP(w, r.WithContext(ctx))
	case ExpireWatch:
		expire(w)
	default:
		answer(w, r, action)
	}
}

// cutAfter is how long CutWhileForwarding forwards a request.
const cutAfter = 500 * time.Millisecond

// forwardUnanswered forwards a request, waits for the API server's response, and drops it. It
// continues even if the client disconnects.
func (p *Proxy) forwardUnanswered(r *http.Request) {
	defer func() {
		// The API server may fail, too.
		if cause := recover(); cause != nil && !errors.Is(asError(cause), http.ErrAbortHandler) {
			panic(cause)
		}
	}()
	p.forward.ServeHTTP(nowhere{}, r.WithContext(context.WithoutCancel(r.Context())))
}

func asError(cause any) error {
	err, _ := cause.(error)
	return err
}

// nowhere discards a response.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}
