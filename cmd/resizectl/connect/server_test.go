package connect_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/holds"
)

// withRatios returns a server that has ratios.
func withRatios() *cmdtest.Fake { return cmdtest.Answering(cmdtest.Returns(cmdtest.Ratios())) }

func TestServerAddress(t *testing.T) {
	address := withRatios().Serve(t)
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

func TestLocalServer(t *testing.T) {
	t.Run("is used if nothing selects a server, with a note", isUsedIfNothingSelectsAServerWithANote)
	t.Run("is not used if something else is selected", isNotUsedIfSomethingElseIsSelected)
	t.Run("must be behind a socket of the user", mustBeBehindASocketOfTheUser)
}

// inRuntimeDir returns the path of the user's socket, in a new directory.
func inRuntimeDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("RESIZECTL_SERVER", "")
	t.Setenv("KUBECONFIG", filepath.Join(dir, "none"))
	return filepath.Join(dir, "workload-resizer.sock")
}

// serveLocal serves the server at an address at the user's socket, too.
func serveLocal(t *testing.T, address string) (path string) {
	t.Helper()
	path = inRuntimeDir(t)
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // The end of the test.
			}
			far, err := net.Dial("tcp", address)
			if err != nil {
				_ = near.Close()
				continue
			}
			go func() {
				_, _ = io.Copy(far, near)
				_ = far.Close()
			}()
			go func() {
				_, _ = io.Copy(near, far)
				_ = near.Close()
			}()
		}
	}()
	return path
}

func isUsedIfNothingSelectsAServerWithANote(t *testing.T) {
	path := serveLocal(t, withRatios().Serve(t))
	code, stdout, stderr := program.Shell(t.Context(), "ratios", "list")
	if want := "note: using your server on this machine, unix://" + path + "; --context or --service selects the server of a cluster\n"; code != command.ExitOK || stderr != want || !strings.Contains(stdout, "n4") {
		t.Errorf("exit %d, stderr %q, want %q; stdout %s", code, stderr, want, stdout)
	}
	code, _, stderr = program.Shell(t.Context(), "ratios", "list", "--server", "unix://"+path)
	if code != command.ExitOK || stderr != "" {
		t.Errorf("with its address: exit %d, stderr %q", code, stderr)
	}
	code, _, stderr = cmdtest.ProgramOf(holds.NewCommands).Shell(t.Context(), "freeze", "--yes") // It calls twice.
	if code != command.ExitOK || strings.Count(stderr, "note: ") != 1 {
		t.Errorf("a command that calls twice: exit %d, stderr %q", code, stderr)
	}
}

func isNotUsedIfSomethingElseIsSelected(t *testing.T) {
	serveLocal(t, withRatios().Serve(t))
	nobody := cmdtest.Nobody(t)
	for _, args := range [][]string{{"--server", nobody}, {"--context", "c"}, {"--service", "a/b"}, {"--kubeconfig", "no/such"}} {
		if code, _, stderr := program.Shell(t.Context(), append([]string{"ratios", "list"}, args...)...); code != command.ExitError || strings.Contains(stderr, "note: ") {
			t.Errorf("%q: exit %d, stderr %q", args, code, stderr)
		}
	}
	t.Setenv("RESIZECTL_SERVER", nobody)
	if code, _, stderr := program.Shell(t.Context(), "ratios", "list"); code != command.ExitError || !strings.Contains(stderr, nobody) {
		t.Errorf("RESIZECTL_SERVER: exit %d, stderr %q", code, stderr)
	}
}

func mustBeBehindASocketOfTheUser(t *testing.T) {
	path := inRuntimeDir(t)
	refused := func(want string) {
		t.Helper()
		if code, _, stderr := program.Shell(t.Context(), "ratios", "list"); code != command.ExitError || !strings.Contains(stderr, want) || !strings.Contains(stderr, "--context or --service") {
			t.Errorf("exit %d, stderr %q, want %q", code, stderr, want)
		}
	}
	refused("there is no socket " + path)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(path + " is not a socket")
	if os.Geteuid() != 0 {
		return // Only root can give files away.
	}
	path = serveLocal(t, withRatios().Serve(t))
	if err := os.Chown(path, 4711, 4711); err != nil {
		t.Fatal(err)
	}
	refused(path + " belongs to another user")
}

// serveSecured is like Serve with TLS, by a certificate for a name that is not the server's
// address. It requires a token.
func serveSecured(t *testing.T, s *cmdtest.Fake, token string) (address, authority string) {
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
	check := func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		md, _ := metadata.FromIncomingContext(stream.Context())
		if got := strings.Join(md.Get("authorization"), ""); got != "Bearer "+token {
			return cmdtest.WithReason(codes.Unauthenticated, "UNAUTHENTICATED", "there is no valid token in the call")
		}
		return handle(srv, stream)
	}
	address = s.Serve(t, grpc.Creds(security), grpc.StreamInterceptor(check))
	return address, cmdtest.File(t, "ca.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestSecuredServer(t *testing.T) {
	address, authority := serveSecured(t, withRatios(), "secret")
	open := withRatios().Serve(t)
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
			address + " cannot authenticate you: there is no valid token in the call; provide a token with --token-file or RESIZECTL_TOKEN, or a certificate with --client-certificate and --client-key\n"},
		{"no such token file", address, "", []string{"--certificate-authority", authority, "--tls-server-name", "resizer.example.com", "--token-file", "no/such"},
			"error: read the token: open no/such: no such file or directory; set --token-file to a file with a token\n"},
		{"another name", address, "", []string{"--certificate-authority", authority}, "set its name with --tls-server-name\n"},
		{"an unknown authority", address, "", []string{"--tls-server-name", "resizer.example.com"}, "name the authority of its certificate with --certificate-authority"},
		{"a missing authority file", address, "", []string{"--certificate-authority", "no/such"}, "--certificate-authority no/such: open no/such"},
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
