package main

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
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// serveSecured is serve with TLS, by a certificate for a name that is not the
// server's address. It wants a token.
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
		{"a token from a file", address, "", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com", "--token-file", tokenFile}, ""},
		{"a token from the environment", address, "secret", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com"}, ""},
		{"the flag goes before the environment", address, "wrong", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com", "--token-file", tokenFile}, ""},
		{"nobody asks", address, "", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com"},
			address + " does not know who asks: there is no valid token in the call\ngive a token with --token-file or RESIZECTL_TOKEN, or a certificate with --client-certificate and --client-key\n"},
		{"no such token file", address, "", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com", "--token-file", "no/such"},
			"error: read the token: open no/such: no such file or directory\nname a file with a token with --token-file\n"},
		{"another name", address, "", []string{"--certificate-authority", authority}, "give that name with --tls-server-name\n"},
		{"an unknown authority", address, "", []string{"--tls-server-name", "resizer.example.com"}, "name the authority of the server's certificate with --certificate-authority"},
		{"an authority that is not there", address, "", []string{"--certificate-authority", "no/such"}, "read the certificate authority of the server: open no/such"},
		{"plaintext to a server that encrypts", address, "", nil, "the server may encrypt: name the authority of its certificate with --certificate-authority\n"},
		{"encrypted to a server that does not", open, "", []string{"--certificate-authority", authority}, "the server does not encrypt; --plaintext asks it so"},
		{"a token in plaintext to another machine", "10.0.0.1:7443", "secret", []string{"--plaintext"}, "a token would go to 10.0.0.1 in plaintext"},
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

const unreachableCluster = `{apiVersion: v1, kind: Config, current-context: c,
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {}}]}
`

func TestWhichServerIsAsked(t *testing.T) {
	kubeconfig, none := cmdtest.File(t, "config", []byte(unreachableCluster)), filepath.Join(t.TempDir(), "none")
	address := cmdtest.Serve(t, &cmdtest.Server{Ratios: cmdtest.Ratios()})
	const throughCluster = "get ConfigMap workload-resizer-system/workload-resizer-ca"
	for _, tc := range []struct {
		name, program, server, kubeconfig string
		args                              []string
		want                              string
	}{
		{"that of the environment", "resizectl", address, kubeconfig, nil, ""},
		{"that of the cluster if a context is named", "resizectl", address, kubeconfig, []string{"--context", "c"}, throughCluster},
		{"a context that is not there", "resizectl", "", kubeconfig, []string{"--context", "other"}, `context "other" does not exist`},
		{"that of the cluster if its Service is named", "resizectl", "", kubeconfig, []string{"--service", "a/b"}, "get ConfigMap a/workload-resizer-ca"},
		{"that of the cluster if a kubeconfig is named", "resizectl", "", none, []string{"--kubeconfig", kubeconfig}, throughCluster},
		{"that of the cluster if an audience is named", "resizectl", address, kubeconfig, []string{"--token-audience", "mine"}, throughCluster},
		{"that of the cluster if kubectl asks", "kubectl-workload_resizer.exe", "", kubeconfig, nil, throughCluster},
		{"that of the cluster if kubectl asks, whatever is in the environment", "kubectl-workload_resizer", address, kubeconfig, nil, throughCluster},
		{"an address if kubectl is told so", "kubectl-workload_resizer", "", kubeconfig, []string{"--server", address}, ""},
		{"an address where nobody is, named to kubectl", "kubectl-workload_resizer", "", kubeconfig, []string{"--server", cmdtest.Nobody(t)}, "or name another address with --server\n"},
		{"no cluster", "kubectl-workload_resizer", "", none, nil, "there is no kubeconfig that leads to a cluster"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("RESIZECTL_SERVER", tc.server)
			t.Setenv("KUBECONFIG", tc.kubeconfig)
			var out, errOut bytes.Buffer
			streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}
			code := run(t.Context(), tc.program, streams, append([]string{"ratios", "list"}, tc.args...))
			if stderr := errOut.String(); tc.want == "" && code != command.ExitOK || !strings.Contains(stderr, tc.want) {
				t.Errorf("exit %d, stderr\n%s\nwant\n%s", code, stderr, tc.want)
			}
		})
	}
}

func TestAServiceAccountOfTheEnvironmentIsForClustersAlone(t *testing.T) {
	t.Setenv("RESIZECTL_SERVER", cmdtest.Serve(t, &cmdtest.Server{Ratios: cmdtest.Ratios()}))
	t.Setenv("RESIZECTL_SERVICE_ACCOUNT", "nonsense")
	t.Setenv("KUBECONFIG", cmdtest.File(t, "config", []byte(unreachableCluster)))
	if code, _, stderr := program.Shell(t.Context(), "ratios", "list"); code != command.ExitOK {
		t.Errorf("at an address: exit %d, %s", code, stderr)
	}
	const want = `error: RESIZECTL_SERVICE_ACCOUNT "nonsense" is not NAMESPACE/NAME`
	if code, _, stderr := program.Shell(t.Context(), "ratios", "list", "--context", "c"); code != command.ExitError || !strings.HasPrefix(stderr, want) {
		t.Errorf("in a cluster: exit %d, %s", code, stderr)
	}
}
