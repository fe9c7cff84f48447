package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

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

// resourceSum is the amount by which requests are below their originals.
type resourceSum struct{ cores, bytes float64 }

func (s *resourceSum) add(t *testing.T, original, current map[string]string) {
	t.Helper()
	difference := func(name string) float64 {
		from, err := resource.ParseQuantity(original[name])
		if err != nil {
			t.Fatal(err)
		}
		to, err := resource.ParseQuantity(current[name])
		if err != nil {
			t.Fatal(err)
		}
		from.Sub(to)
		return from.AsApproximateFloat64()
	}
	s.cores += difference("cpu")
	s.bytes += difference("memory")
}
