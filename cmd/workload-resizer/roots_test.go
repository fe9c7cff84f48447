package main

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// rootsVariable makes the test binary print which authorities it trusts: only those of
// the file that the variable names, none, or others.
const rootsVariable = "WORKLOAD_RESIZER_TEST_ROOTS"

// Authorities are read once per process, so each case needs its own process.
func TestAuthoritiesOfTheSystemCountAndOthersOnlyWhereItHasNone(t *testing.T) {
	if file := os.Getenv(rootsVariable); file != "" {
		printRoots(t, file)
		return
	}
	dir := t.TempDir()
	// Any authority will do, and this one is at hand.
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	known := filepath.Join(dir, "ca.crt")
	if err := os.WriteFile(known, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, file, want string }{
		{"a system with authorities", known, "system"},
		{"a system without authorities", filepath.Join(dir, "none"), "others"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			command := exec.Command(os.Args[0], "-test.run", "^TestAuthoritiesOfTheSystemCountAndOthersOnlyWhereItHasNone$")
			command.Env = []string{rootsVariable + "=" + known, "SSL_CERT_FILE=" + tc.file, "SSL_CERT_DIR=" + filepath.Join(dir, "nowhere")}
			out, err := command.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := string(out[:min(len(out), len(tc.want))]); got != tc.want {
				t.Errorf("got %s, want %s", out, tc.want)
			}
		})
	}
}

func printRoots(t *testing.T, file string) {
	t.Helper()
	system, err := x509.SystemCertPool()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(content)
	answer := "others"
	switch {
	case system.Equal(known):
		answer = "system"
	case system.Equal(x509.NewCertPool()):
		answer = "none"
	}
	if _, err := os.Stdout.WriteString(answer + "\n"); err != nil {
		t.Fatal(err)
	}
}
