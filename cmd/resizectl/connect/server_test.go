package connect_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

func TestServerAddress(t *testing.T) {
	server := &cmdtest.Server{Ratios: cmdtest.Ratios()}
	address := cmdtest.Serve(t, server)
	for _, tc := range []struct {
		name, variable string
		args           []string
		want           int
	}{
		{"uses the address in the environment", address, nil, command.ExitOK},
		{"prefers the flag", "127.0.0.1:1", []string{"--server", address}, command.ExitOK},
		{"prefers the flag even if it is wrong", address, []string{"--server", cmdtest.Nobody(t)}, command.ExitError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("RESIZECTL_SERVER", tc.variable)
			if code, _, stderr := program.Shell(t.Context(), append([]string{"ratios", "list"}, tc.args...)...); code != tc.want {
				t.Errorf("exit %d, want %d: %s", code, tc.want, stderr)
			}
		})
	}
}

// serveSecured is like Serve with TLS, by a certificate for a name that is not the server's
// address. It requires a token.
func serveSecured(t *testing.T, s *cmdtest.Server, token string) (address, authority string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "resizer"}, DNSNames: []string{"resizer.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	security := credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	check := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		if got := strings.Join(md.Get("authorization"), ""); got != "Bearer "+token {
			return nil, cmdtest.WithReason(t, codes.Unauthenticated, "UNAUTHENTICATED", "there is no valid token in the call")
		}
		return handle(ctx, req)
	}
	address = cmdtest.Serve(t, s, grpc.Creds(security), grpc.UnaryInterceptor(check))
	return address, cmdtest.File(t, "ca.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestSecuredServer(t *testing.T) {
	address, authority := serveSecured(t, &cmdtest.Server{Ratios: cmdtest.Ratios()}, "secret")
	open := cmdtest.Serve(t, &cmdtest.Server{Ratios: cmdtest.Ratios()})
	tokenFile := cmdtest.File(t, "token", []byte("secret\n"))
	for _, tc := range []struct {
		name, server, token string
		args                []string
		want                string
	}{
		{"a token in a file", address, "", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com", "--token-file", tokenFile}, ""},
		{"a token in the environment", address, "secret", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com"}, ""},
		{"a token in a file before the environment", address, "wrong", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com", "--token-file", tokenFile}, ""},
		{"no credentials", address, "", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com"},
			address + " cannot authenticate you: there is no valid token in the call\nprovide a token with --token-file or RESIZECTL_TOKEN, or a certificate with --client-certificate and --client-key\n"},
		{"no such token file", address, "", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com", "--token-file", "no/such"},
			"error: read the token: open no/such: no such file or directory\nset --token-file to a file with a token\n"},
		{"another name", address, "", []string{"--certificate-authority", authority}, "set its name with --tls-server-name\n"},
		{"an unknown authority", address, "", []string{"--tls-server-name", "resizer.example.com"}, "name the authority of its certificate with --certificate-authority"},
		{"a missing authority file", address, "", []string{"--certificate-authority", "no/such"}, "read the certificate authority of the server: open no/such"},
		{"plaintext to a server with TLS", address, "", nil, "the server may use TLS: name the authority of its certificate with --certificate-authority\n"},
		{"TLS to a server without TLS", open, "", []string{"--certificate-authority", authority}, "the server does not use TLS; --plaintext connects without it"},
		{"a token in plaintext to another machine", "10.0.0.1:7443", "secret", []string{"--plaintext"}, "refusing to send a token to 10.0.0.1 in plaintext"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("RESIZECTL_TOKEN", tc.token)
			code, _, stderr := program.Shell(t.Context(), append([]string{"ratios", "list", "--server", tc.server}, tc.args...)...)
			if (code == command.ExitOK) != (tc.want == "") || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit %d, stderr\n%s\nwant\n%s", code, stderr, tc.want)
			}
		})
	}
}
