package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// seenAs answers ListRatios with the caller's credentials, as the revision.
func seenAs() ratioServer {
	return ratioServer{list: func(ctx context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
		seen := "nobody"
		p, _ := peer.FromContext(ctx)
		if info, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(info.State.PeerCertificates) > 0 {
			seen = info.State.PeerCertificates[0].Subject.CommonName
		}
		if md, _ := metadata.FromIncomingContext(ctx); len(md.Get("authorization")) > 0 {
			seen = md.Get("authorization")[0]
		}
		return &workloadresizerv1.ListRatiosResponse{Revision: seen}, nil
	}}
}

// serveSecured starts a server with TLS on this machine. It closes connections of the given
// age; 0 keeps them forever.
func serveSecured(t *testing.T, config *tls.Config, age time.Duration) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)), grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: age}))
	workloadresizerv1.RegisterRatioServiceServer(server, seenAs())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func ask(t *testing.T, address string, opts ...Option) (seen string, err error) {
	t.Helper()
	c, err := Dial(address, opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	resp, err := c.ListRatios(t.Context())
	return resp.GetRevision(), err
}

func TestTLS(t *testing.T) {
	authority := newAuthority(t)
	certificate := authority.issue(&x509.Certificate{DNSNames: []string{"resizer.example.com"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	address := serveSecured(t, &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequestClientCert}, 0)
	certFile, keyFile := authority.user("ann", t.TempDir())
	for _, tc := range []struct {
		name    string
		opts    []Option
		want    string
		wantErr string
	}{
		{"accepts an authority from a file", []Option{WithCAFile(authority.file())}, "nobody", ""},
		{"accepts an authority from a pool", []Option{WithCAPool(authority.pool())}, "nobody", ""},
		{"accepts the name of the certificate", []Option{WithCAPool(authority.pool()), WithServerName("resizer.example.com")}, "nobody", ""},
		{"rejects another name", []Option{WithCAPool(authority.pool()), WithServerName("other.example.com")}, "", "not other.example.com"},
		{"rejects another authority", []Option{WithCAPool(newAuthority(t).pool())}, "", "certificate signed by unknown authority"},
		{"rejects an authority that the system does not trust", []Option{WithTLS()}, "", "certificate signed by unknown authority"},
		{"presents a client certificate", []Option{WithCAPool(authority.pool()), WithClientCertificate(certFile, keyFile)}, "ann", ""},
		{"fails without the file of a client certificate", []Option{WithCAPool(authority.pool()), WithClientCertificate("no/such", keyFile)}, "", "load the client certificate: open no/such"},
		{"sends a token", []Option{WithCAPool(authority.pool()), WithToken("secret")}, "Bearer secret", ""},
		{"fails in plaintext", nil, "", "error reading server preface"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ask(t, address, tc.opts...)
			if got != tc.want || (err == nil) != (tc.wantErr == "") || err != nil && (!IsUnreachable(err) || !strings.Contains(err.Error(), tc.wantErr)) {
				t.Errorf("seen as %q, %v; want %q, %q", got, err, tc.want, tc.wantErr)
			}
		})
	}
}

func TestClientCertificates(t *testing.T) {
	t.Run("reads client certificates for each connection", readsClientCertificatesForEachConnection)
}

func TestAuthorities(t *testing.T) {
	t.Run("are read again for each connection", authoritiesAreReadAgainForEachConnection)
}

// The server closes connections soon, as it does after half an hour.
func authoritiesAreReadAgainForEachConnection(t *testing.T) {
	before, after := newAuthority(t), newAuthority(t)
	var serving atomic.Pointer[tls.Certificate]
	serve := func(by *authority) {
		certificate := by.server("localhost")
		serving.Store(&certificate)
	}
	serve(before)
	address := serveSecured(t, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return serving.Load(), nil }}, 50*time.Millisecond)
	trusted := filepath.Join(t.TempDir(), "ca.crt")
	trust := func(pem []byte) {
		t.Helper()
		write(t, trusted, pem)
	}
	contentOf := func(a *authority) []byte {
		t.Helper()
		content, err := os.ReadFile(a.file())
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	trust(contentOf(before))
	c, err := Dial(address, WithCAFile(trusted), WithServerName("localhost"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	call := func() error { _, err := c.ListRatios(t.Context()); return err }
	localcluster.Eventually(t, "a call", call)
	serve(after)
	localcluster.Eventually(t, "the new authority to be refused", func() error {
		if err := call(); err == nil || !strings.Contains(err.Error(), "unknown authority") {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	trust(contentOf(after))
	localcluster.Eventually(t, "a call with the new authority", call)
	trust([]byte("being written"))
	serve(before)
	localcluster.Eventually(t, "a call with the authority from the start", call)
}

func readsClientCertificatesForEachConnection(t *testing.T) {
	authority := newAuthority(t)
	address := serveSecured(t, &tls.Config{Certificates: []tls.Certificate{authority.server("localhost")}, ClientAuth: tls.RequireAnyClientCert}, 50*time.Millisecond)
	dir := t.TempDir()
	certFile, keyFile := authority.user("ann", dir)
	c, err := Dial(address, WithCAPool(authority.pool()), WithServerName("localhost"), WithClientCertificate(certFile, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	seenAs := func(want string) {
		localcluster.Eventually(t, "the server to see "+want, func() error {
			resp, err := c.ListRatios(t.Context())
			if err == nil && resp.GetRevision() != want {
				err = fmt.Errorf("the server sees %s", resp.GetRevision())
			}
			return err
		})
	}
	seenAs("ann")
	authority.user("ben", dir)
	seenAs("ben")
}

func TestTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	write(t, path, []byte("first\n"))
	c := dial(t, seenAs(), planServer{}, WithTokenFile(path))
	seen := func() (string, error) {
		resp, err := c.ListRatios(t.Context())
		return resp.GetRevision(), err
	}
	if got, err := seen(); got != "Bearer first" || err != nil {
		t.Errorf("%q, %v; want the token in the file", got, err)
	}
	write(t, path, []byte("second"))
	if got, err := seen(); got != "Bearer second" || err != nil {
		t.Errorf("%q, %v; want the new token in the file", got, err)
	}
	write(t, path, nil)
	if _, err := seen(); status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "get a token for the server: "+path+" is empty") {
		t.Errorf("an empty file: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := seen(); status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
	c = dial(t, seenAs(), planServer{}, WithTokenFunc(func(context.Context) (string, error) { return "", errors.New("logged out") }))
	if _, err := seen(); status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "get a token for the server: logged out") {
		t.Errorf("a failing function: %v", err)
	}
}

// publisher is an API server with one ConfigMap, a/ca. It counts how often that is read.
type publisher struct {
	content atomic.Pointer[string]
	reads   atomic.Int64
}

func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.reads.Add(1)
	content := p.content.Load()
	if content == nil || r.URL.Path != "/api/v1/namespaces/a/configmaps/ca" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`))
		return
	}
	body, err := yaml.Marshal(corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "ca"}, Data: map[string]string{AuthorityKey: *content},
	})
	if err == nil {
		body, err = yaml.YAMLToJSON(body)
	}
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

func (p *publisher) publish(content string) { p.content.Store(&content) }

func (p *publisher) serve(t *testing.T) *rest.Config {
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

func TestPublishedCA(t *testing.T) {
	authority := newAuthority(t)
	certificate := authority.issue(&x509.Certificate{DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})
	address := serveSecured(t, &tls.Config{Certificates: []tls.Certificate{certificate}}, 0)
	p := &publisher{}
	config := p.serve(t)
	published := WithPublishedCA(config, "a", "ca")
	for _, tc := range []struct{ name, content, says string }{
		{"says why there is none", "", "find the certificate authority of the server: there is no ConfigMap a/ca"},
		{"says that it is not published yet", " ", "key ca.crt of ConfigMap a/ca is empty: it is not published yet"},
		{"says what is wrong with it", "none", "key ca.crt of ConfigMap a/ca contains no PEM certificate"},
		{"trusts what is published", string(authority.pem()), ""},
		{"trusts what was published if it cannot be read", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p.content.Store(nil)
			if tc.content != "" {
				p.publish(tc.content)
			}
			_, err := ask(t, address, published)
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
	t.Run("cannot be combined with a file", func(t *testing.T) {
		if _, err := Dial(address, published, WithCAFile(authority.file())); err == nil || !strings.Contains(err.Error(), "cannot be combined") {
			t.Errorf("got %v", err)
		}
	})
}
