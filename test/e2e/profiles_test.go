package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestProfiles(t *testing.T) {
	t.Parallel()
	t.Run("only admins can read profiles", onlyAdminsCanReadProfiles)
}

// onlyAdminsCanReadProfiles: profiles have the certificate of the API and a port of their
// own.
func onlyAdminsCanReadProfiles(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.namespace(t, "users")
	cert, err := localcluster.ServingCertificate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	address, err := localcluster.FreeAddress("")
	if err != nil {
		t.Fatal(err)
	}
	s := p.serveSecured(t, cert, "--pprof-bind-address", address)
	url := "https://" + address + "/debug/pprof/"
	for _, tc := range []struct {
		who, token string
		status     int
		says       string
	}{
		{"an admin", p.person(t, "users", "admin", "workload-resizer-admin"), http.StatusOK, "goroutine"},
		{"an editor", p.person(t, "users", "editor", "workload-resizer-editor"), http.StatusForbidden, "workload-resizer-admin"},
		{"a viewer", p.person(t, "users", "viewer", "workload-resizer-viewer"), http.StatusForbidden, "workload-resizer-admin"},
		{"no credentials", "", http.StatusUnauthorized, "with the right to get debug.workload-resizer.io, or connect with the client certificate"},
		{"a bad token", cert.CertFile, http.StatusUnauthorized, ""},
	} {
		t.Run(tc.who, func(t *testing.T) {
			for _, path := range []string{"", "heap", "cmdline"} {
				status, body := download(t, cert.CertFile, tc.token, url+path)
				if status != tc.status || path == "" && !strings.Contains(body, tc.says) {
					t.Errorf("%q: %d, %s", path, status, body)
				}
			}
		})
	}
	t.Run("denials on the API are counted by method and code", func(t *testing.T) {
		if _, err := dialSecured(t, s.GRPCAddress, cert.CertFile, p.tokenFile(t, "users", "default", nil)).Status(t.Context()); err == nil {
			t.Fatal("a caller without rights gets an answer")
		}
		families, err := s.Metrics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := families.Sum("grpc_server_handled_total", prometheus.Labels{"grpc_method": "GetStatus", "grpc_code": "PermissionDenied"}); err != nil || got != 1 {
			t.Errorf("%v, %v", got, err)
		}
	})
	t.Run("the port for probes does not serve profiles", func(t *testing.T) {
		response, err := http.Get("http://" + s.HTTPAddress + "/debug/pprof/")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			t.Errorf("status %d", response.StatusCode)
		}
	})
}

// download gets a page with the token in a file, or without a token if there is no file.
func download(t *testing.T, ca, token, url string) (status int, body string) {
	t.Helper()
	content, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(content)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		secret, err := os.ReadFile(token)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+strings.Join(strings.Fields(string(secret)), ""))
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(page)
}
