package localcluster

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

const podPath = "/api/v1/namespaces/shop/pods/web"

// newBackend starts a stand-in for an API server.
func newBackend(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *rest.Config) {
	t.Helper()
	backend := httptest.NewUnstartedServer(handler)
	backend.EnableHTTP2 = true
	backend.StartTLS()
	t.Cleanup(backend.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: backend.Certificate().Raw})
	return backend, &rest.Config{Host: backend.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

// newClient returns a client that trusts only the proxy, and uses HTTP/2 or HTTP/1.1.
func newClient(t *testing.T, p *Proxy, http2 bool) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(p.CA) {
		t.Fatal("the CA of the proxy is not PEM")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: http2}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

func send(t *testing.T, client *http.Client, method, url, body string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer secret")
	return client.Do(request)
}

func closeBody(t *testing.T, response *http.Response) {
	t.Helper()
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
}

// overBoth runs a test with both versions of HTTP.
func overBoth(t *testing.T, test func(t *testing.T, http2 bool)) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2=%v", http2), func(t *testing.T) { test(t, http2) })
	}
}

func TestProxy(t *testing.T) {
	t.Run("the proxy forwards requests and credentials", theProxyForwardsRequestsAndCredentials)
	t.Run("writes to pods are recognized", writesToPodsAreRecognized)
	t.Run("the proxy fails at the chosen write", theProxyFailsAtTheChosenWrite)
	t.Run("the proxy forwards and hangs", theProxyForwardsAndHangs)
	t.Run("the proxy forwards events immediately and ends watches when down", theProxyForwardsEventsImmediatelyAndEndsWatchesWhenDown)
	t.Run("the proxy does not respond when the API server is gone", theProxyDoesNotRespondWhenTheAPIServerIsGone)
}

func theProxyForwardsRequestsAndCredentials(t *testing.T) {
	overBoth(t, func(t *testing.T, http2 bool) {
		_, cfg := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL, r.Header.Get("Authorization"), body)
		})
		p := ProxyForTest(t, cfg, func(Write) Action { return Forward })
		for _, method := range []string{http.MethodGet, http.MethodPatch} {
			response, err := send(t, newClient(t, p, http2), method, p.URL+podPath+"?watch=1", "body")
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if want := method + " " + podPath + "?watch=1 Bearer secret body"; string(got) != want || response.StatusCode != http.StatusTeapot {
				t.Errorf("got %d %q, want %d %q", response.StatusCode, got, http.StatusTeapot, want)
			}
			if (response.ProtoMajor == 2) != http2 {
				t.Errorf("protocol %s", response.Proto)
			}
			closeBody(t, response)
		}
	})
}

func writesToPodsAreRecognized(t *testing.T) {
	for _, test := range []struct {
		method, path string
		want         Write
		ok           bool
	}{
		{http.MethodPatch, podPath, Write{Method: "PATCH", Namespace: "shop", Pod: "web"}, true},
		{http.MethodPatch, podPath + "/resize", Write{Method: "PATCH", Namespace: "shop", Pod: "web", Subresource: "resize"}, true},
		{http.MethodPut, podPath + "/status", Write{Method: "PUT", Namespace: "shop", Pod: "web", Subresource: "status"}, true},
		{http.MethodPost, "/api/v1/namespaces/shop/pods", Write{Method: "POST", Namespace: "shop"}, true},
		{http.MethodDelete, podPath, Write{Method: "DELETE", Namespace: "shop", Pod: "web"}, true},
		{http.MethodGet, podPath, Write{}, false},
		{http.MethodPost, "/api/v1/namespaces/shop/events", Write{}, false},
		{http.MethodPost, "/api/v1/namespaces", Write{}, false},
		{http.MethodPatch, "/apis/apps/v1/namespaces/shop/pods/web", Write{}, false},
	} {
		got, ok := podWrite(httptest.NewRequest(test.method, test.path, nil))
		if got.Method != test.want.Method || got.Namespace != test.want.Namespace || got.Pod != test.want.Pod || got.Subresource != test.want.Subresource || ok != test.ok {
			t.Errorf("%s %s: got %+v, %v, want %+v, %v", test.method, test.path, got, ok, test.want, test.ok)
		}
	}
}

func theProxyFailsAtTheChosenWrite(t *testing.T) {
	for action, arrives := range map[Action]int32{ForwardThenCut: 2, CutBefore: 1} {
		t.Run(action.String(), func(t *testing.T) {
			overBoth(t, func(t *testing.T, http2 bool) {
				var arrived atomic.Int32
				_, cfg := newBackend(t, func(http.ResponseWriter, *http.Request) { arrived.Add(1) })
				p := ProxyForTest(t, cfg, func(w Write) Action {
					if w.N == 2 {
						if string(w.Body) != "second" {
							t.Errorf("body %q", w.Body)
						}
						return action
					}
					return Forward
				})
				client := newClient(t, p, http2)
				first, err := send(t, client, http.MethodPatch, p.URL+podPath, "first")
				if err != nil {
					t.Fatalf("the first write: %v", err)
				}
				closeBody(t, first)
				if second, err := send(t, client, http.MethodPatch, p.URL+podPath, "second"); err == nil {
					closeBody(t, second)
					t.Errorf("the second write got a response: %s", second.Status)
				}
				if got := arrived.Load(); got != arrives || p.Writes() != 2 {
					t.Errorf("the API server got %d writes, want %d; the proxy got %d, want 2", got, arrives, p.Writes())
				}
			})
		})
	}
}

func theProxyForwardsAndHangs(t *testing.T) {
	overBoth(t, func(t *testing.T, http2 bool) {
		arrived := make(chan struct{})
		_, cfg := newBackend(t, func(http.ResponseWriter, *http.Request) { close(arrived) })
		p := ProxyForTest(t, cfg, func(Write) Action { return ForwardThenHang })
		ctx, cancel := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodPatch, p.URL+podPath, strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		answer := make(chan error, 1)
		client := newClient(t, p, http2)
		go func() {
			response, err := client.Do(request)
			if err == nil {
				closeBody(t, response)
			}
			answer <- err
		}()
		<-arrived
		select {
		case err := <-answer:
			t.Errorf("the client got a response: %v", err)
		case <-time.After(100 * time.Millisecond):
		}
		cancel()
		if err := <-answer; err == nil {
			t.Error("the client got a response")
		}
	})
}

func theProxyForwardsEventsImmediatelyAndEndsWatchesWhenDown(t *testing.T) {
	overBoth(t, func(t *testing.T, http2 bool) {
		_, cfg := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, "event")
			// The proxy may have disconnected, even after the test. An
			// event that is not sent is missed below.
			_ = http.NewResponseController(w).Flush()
			if r.URL.Query().Has("watch") {
				<-r.Context().Done()
			}
		})
		p := ProxyForTest(t, cfg, nil)
		client := newClient(t, p, http2)
		watch, err := send(t, client, http.MethodGet, p.URL+podPath+"?watch", "")
		if err != nil {
			t.Fatal(err)
		}
		defer closeBody(t, watch)
		events := bufio.NewReader(watch.Body)
		if line, err := events.ReadString('\n'); err != nil || line != "event\n" {
			t.Fatalf("got %q, %v", line, err)
		}

		if err := p.SetDown(true); err != nil {
			t.Fatal(err)
		}
		if line, err := events.ReadString('\n'); err == nil {
			t.Errorf("the watch continues while the proxy is down: %q", line)
		}
		if response, err := send(t, client, http.MethodGet, p.URL+podPath, ""); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("while the proxy is down: got %v, %v, want a refused connection", response, err)
		}
		if err := p.SetDown(false); err != nil {
			t.Fatal(err)
		}
		response, err := send(t, client, http.MethodGet, p.URL+podPath, "")
		if err != nil {
			t.Fatalf("after the proxy is up again: %v", err)
		}
		closeBody(t, response)
	})
}

func theProxyDoesNotRespondWhenTheAPIServerIsGone(t *testing.T) {
	backend, cfg := newBackend(t, func(http.ResponseWriter, *http.Request) {})
	p := ProxyForTest(t, cfg, nil)
	backend.Close()
	if response, err := send(t, newClient(t, p, true), http.MethodGet, p.URL+podPath, ""); err == nil {
		closeBody(t, response)
		t.Errorf("got a response: %s", response.Status)
	}
}
