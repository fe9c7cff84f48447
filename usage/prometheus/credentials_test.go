package prometheus

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage"
)

func TestCredentials(t *testing.T) {
	write := func(t *testing.T, file, text string) string {
		t.Helper()
		if filepath.Dir(file) == "." {
			file = filepath.Join(t.TempDir(), file)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	read := func(t *testing.T, s *Source) error {
		t.Helper()
		return s.Read(t.Context(), began, began.Add(time.Hour), func(usage.Sample) {})
	}
	t.Run("are sent, and read again", func(t *testing.T) {
		var got http.Header
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.Header
			_, _ = io.WriteString(w, matrix(""))
		}))
		t.Cleanup(server.Close)
		c := Credentials{
			TokenFile:   write(t, "token", "the-token\n"),
			HeadersFile: write(t, "headers", "x-api-key: the-key\nX-Team:  a, b \n"),
			CAFile:      write(t, "ca", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))),
		}
		source := newSource(t, Config{Address: server.URL, Credentials: c, Tenant: "team"})
		for _, key := range []string{"the-key", "another-key"} {
			write(t, c.HeadersFile, "x-api-key: "+key+"\nX-Team:  a, b \n")
			if err := read(t, source); err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{"Authorization": "Bearer the-token", "X-Api-Key": key, "X-Team": "a, b", "X-Scope-Orgid": "team"} {
				if got.Get(name) != want {
					t.Errorf("%s is %q, want %q", name, got.Get(name), want)
				}
			}
		}
		write(t, c.HeadersFile, "secret")
		if err := read(t, source); err == nil || !strings.Contains(err.Error(), "does not have a header per line, as NAME: VALUE") || strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	})
	t.Run("can name the host, in a file as Windows writes it", func(t *testing.T) {
		var host, key string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			host, key = r.Host, r.Header.Get("X-Api-Key")
			_, _ = io.WriteString(w, matrix(""))
		}))
		t.Cleanup(server.Close)
		file := write(t, "headers", "\uFEFFX-Api-Key: the-key\r\nhost: metrics.example.com\r\n")
		if err := read(t, newSource(t, Config{Address: server.URL, Credentials: Credentials{HeadersFile: file}})); err != nil || host != "metrics.example.com" || key != "the-key" {
			t.Errorf("host %q, key %q, error %v", host, key, err)
		}
	})
	t.Run("are not part of errors", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"status":"error","errorType":"bad_data","error":"%s with %s may not read"}`, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"))
		}))
		t.Cleanup(server.Close)
		source := newSource(t, Config{Address: server.URL, Credentials: Credentials{TokenFile: write(t, "token", "secret-token"), HeadersFile: write(t, "headers", "X-Api-Key: secret-key")}})
		if err := read(t, source); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "xxxxx with xxxxx may not read") {
			t.Error(err)
		}
	})
	t.Run("are not part of errors without the name of their scheme", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			fmt.Fprintf(w, `{"status":"error","errorType":"bad_data","error":"%s has expired"}`, token)
		}))
		t.Cleanup(server.Close)
		source := newSource(t, Config{Address: server.URL, Credentials: Credentials{HeadersFile: write(t, "headers", "Authorization: Bearer secret-token")}})
		if err := read(t, source); err == nil || !strings.Contains(err.Error(), "xxxxx has expired") {
			t.Error(err)
		}
	})
	for name, test := range map[string]struct {
		config Config
		want   string
	}{
		"a token file that is missing":     {Config{Credentials: Credentials{TokenFile: "missing/token"}}, "missing/token"},
		"a headers file that is missing":   {Config{Credentials: Credentials{HeadersFile: "missing/headers"}}, "missing/headers"},
		"a CA file that is missing":        {Config{Credentials: Credentials{CAFile: "missing/ca"}}, "missing/ca"},
		"a CA file of something else":      {Config{Credentials: Credentials{CAFile: write(t, "ca.pem", "secret")}}, "ca.pem"},
		"a headers file of something else": {Config{Credentials: Credentials{HeadersFile: write(t, "headers", "secret")}}, "headers does not have a header per line"},
		"an empty headers file":            {Config{Credentials: Credentials{HeadersFile: write(t, "headers", "\n")}}, "headers does not have a header per line"},
		"an empty token file":              {Config{Credentials: Credentials{TokenFile: write(t, "token", " ")}}, "token"},
		"a token after a byte order mark":  {Config{Credentials: Credentials{TokenFile: write(t, "token", "\uFEFFsecret\r\n")}}, "token does not have a token alone"},
		"a token in UTF-16":                {Config{Credentials: Credentials{TokenFile: write(t, "token", "s\x00e\x00c\x00r\x00")}}, "token does not have a token alone"},
		"a token after Bearer":             {Config{Credentials: Credentials{TokenFile: write(t, "token", "Bearer secret")}}, "token does not have a token alone"},
		"two tokens":                       {Config{Credentials: Credentials{TokenFile: write(t, "token", "secret\nsecret")}}, "token does not have a token alone"},
		"a user and a token":               {Config{Address: "http://user:secret@host", Credentials: Credentials{TokenFile: write(t, "token", "secret")}}, "use only one of them"},
	} {
		t.Run("reject "+name, func(t *testing.T) {
			if test.config.Address == "" {
				test.config.Address = "https://host"
			}
			if _, err := New(test.config); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
		})
	}
}
