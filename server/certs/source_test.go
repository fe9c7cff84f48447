package certs

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// pair is a self-signed certificate and its key.
type pair struct {
	certificate, key []byte
	tls              tls.Certificate
}

func newPair(t *testing.T, name string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p := pair{certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})}
	if p.tls, err = tls.X509KeyPair(p.certificate, p.key); err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// files writes the files of a server and of a client authority.
func files(t *testing.T, server, authority pair) Files {
	t.Helper()
	dir := t.TempDir()
	f := Files{Certificate: filepath.Join(dir, "tls.crt"), PrivateKey: filepath.Join(dir, "tls.key"), ClientCA: filepath.Join(dir, "ca.crt")}
	write(t, f.Certificate, server.certificate)
	write(t, f.PrivateKey, server.key)
	write(t, f.ClientCA, authority.certificate)
	return f
}

// serve accepts connections with the configuration from the files. On each connection, it
// writes the name in the client certificate.
func serve(t *testing.T, f Files) (address string) {
	t.Helper()
	source, err := New(f, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", source.Config())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			name := "nobody"
			if secured := conn.(*tls.Conn); secured.Handshake() == nil {
				if chains := secured.ConnectionState().VerifiedChains; len(chains) > 0 {
					name = chains[0][0].Subject.CommonName
				}
				_, _ = io.WriteString(conn, name)
			}
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

// call connects, and returns the name of the server and the caller's name according to the
// server.
func call(ctx context.Context, address string, client *pair, version uint16) (server, caller string, err error) {
	config := &tls.Config{InsecureSkipVerify: true, MaxVersion: version, MinVersion: tls.VersionTLS10}
	if client != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &client.tls, nil }
	}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
	if err != nil {
		return "", "", err
	}
	answer, err := io.ReadAll(conn)
	server = conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName
	return server, string(answer), errors.Join(err, conn.Close())
}

func TestSource(t *testing.T) {
	t.Run("connections use the current files", connectionsUseTheCurrentFiles)
	t.Run("requires TLS 1.2", requiresTLS12)
	t.Run("fails at startup if the files cannot be used", failsAtStartupIfTheFilesCannotBeUsed)
	t.Run("logs a broken file once and without the key", logsABrokenFileOnceAndWithoutTheKey)
	t.Run("reports the expiry and problems of the files", reportsTheExpiryAndProblemsOfTheFiles)
	t.Run("combines GetCertificate with a client authority", combinesGetCertificateWithAClientAuthority)
}

func connectionsUseTheCurrentFiles(t *testing.T) {
	first, second, ann, bob := newPair(t, "first"), newPair(t, "second"), newPair(t, "ann"), newPair(t, "bob")
	f := files(t, first, ann)
	address := serve(t, f)
	check := func(client *pair, wantServer, wantCaller string) {
		t.Helper()
		localcluster.Eventually(t, fmt.Sprintf("server %s, caller %s", wantServer, wantCaller), func() error {
			server, caller, err := call(t.Context(), address, client, 0)
			if err != nil || server != wantServer || caller != wantCaller {
				return fmt.Errorf("server %q, caller %q, %w", server, caller, err)
			}
			return nil
		})
	}
	check(&ann, "first", "ann")
	check(nil, "first", "nobody")
	if _, _, err := call(t.Context(), address, &bob, 0); err == nil {
		t.Error("a certificate of another authority is accepted")
	}

	// Write the key last, so that the pair does not match in between.
	write(t, f.Certificate, second.certificate)
	check(&ann, "first", "ann")
	write(t, f.PrivateKey, second.key)
	check(&ann, "second", "ann")

	write(t, f.ClientCA, []byte("nonsense"))
	write(t, f.Certificate, nil)
	check(&ann, "second", "ann")
	write(t, f.ClientCA, bob.certificate)
	write(t, f.Certificate, second.certificate)
	check(&bob, "second", "bob")
	if _, _, err := call(t.Context(), address, &ann, 0); err == nil {
		t.Error("a certificate of a removed authority is accepted")
	}
}

func requiresTLS12(t *testing.T) {
	server := newPair(t, "server")
	address := serve(t, files(t, server, server))
	if _, _, err := call(t.Context(), address, nil, tls.VersionTLS11); err == nil {
		t.Error("TLS 1.1 is accepted")
	}
	if _, _, err := call(t.Context(), address, nil, tls.VersionTLS12); err != nil {
		t.Error(err)
	}
}

func failsAtStartupIfTheFilesCannotBeUsed(t *testing.T) {
	server, other := newPair(t, "server"), newPair(t, "other")
	for name, tc := range map[string]struct {
		spoil func(*Files)
		want  string
	}{
		"no certificate":              {func(f *Files) { f.Certificate += "x" }, "no such file"},
		"a key that does not fit":     {func(f *Files) { write(t, f.PrivateKey, other.key) }, "does not match"},
		"no authorities":              {func(f *Files) { f.ClientCA += "x" }, "read the client authorities"},
		"authorities without content": {func(f *Files) { write(t, f.ClientCA, nil) }, "no certificate in it"},
	} {
		t.Run(name, func(t *testing.T) {
			f := files(t, server, server)
			tc.spoil(&f)
			if _, err := New(f, time.Hour); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func logsABrokenFileOnceAndWithoutTheKey(t *testing.T) {
	server, other := newPair(t, "server"), newPair(t, "other")
	f := files(t, server, server)
	source, err := New(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer klog.CaptureState().Restore()
	var log bytes.Buffer
	klog.SetSlogLogger(slog.New(slog.NewTextHandler(&log, nil)))
	good := source.current()
	write(t, f.PrivateKey, other.key)
	for range 2 {
		if source.current() != good {
			t.Error("the last good files are not in effect")
		}
	}
	if strings.Count(log.String(), "New TLS files rejected") != 1 || !strings.Contains(log.String(), f.PrivateKey) {
		t.Errorf("the log is %s", log.String())
	}
	if strings.Contains(log.String(), strings.Split(string(other.key), "\n")[1]) {
		t.Error("the log contains the key")
	}
}

func reportsTheExpiryAndProblemsOfTheFiles(t *testing.T) {
	server, other := newPair(t, "server"), newPair(t, "other")
	f := files(t, server, server)
	source, err := New(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	expiry := source.Expiry()
	if in := time.Until(expiry); in <= 0 || in > time.Hour {
		t.Errorf("the certificate expires in %s", in)
	}
	if err := errors.Join(source.Ready(), source.Problem()); err != nil {
		t.Error(err)
	}
	write(t, f.PrivateKey, other.key)
	if err := source.Problem(); err == nil || !strings.Contains(err.Error(), "does not match") {
		t.Errorf("the problem is %v", err)
	}
	if got := source.Expiry(); !got.Equal(expiry) {
		t.Errorf("the last good certificate expires at %s, want %s", got, expiry)
	}
	write(t, f.PrivateKey, server.key)
	if err := source.Problem(); err != nil {
		t.Error(err)
	}
}

func combinesGetCertificateWithAClientAuthority(t *testing.T) {
	server, ann, bob := newPair(t, "server"), newPair(t, "ann"), newPair(t, "bob")
	f := files(t, server, ann)
	address := serve(t, Files{ClientCA: f.ClientCA, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &server.tls, nil }})
	if name, caller, err := call(t.Context(), address, &ann, 0); err != nil || name != "server" || caller != "ann" {
		t.Errorf("server %q, caller %q, %v", name, caller, err)
	}
	if _, _, err := call(t.Context(), address, &bob, 0); err == nil {
		t.Error("a certificate of another authority is accepted")
	}
}
