package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/prometheus"
)

// Only the Prometheus that usage is read from gets its token and tenant.
func TestObjectivesHaveTheCredentialsOfUsage(t *testing.T) {
	type seen struct{ token, tenant string }
	serve := func() (url string, last *seen) {
		last = &seen{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			*last = seen{r.Header.Get("Authorization"), r.Header.Get("X-Scope-OrgID")}
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"namespace":"shop","pod":"web"},"value":[1,"0.5"]}]}}`))
		}))
		t.Cleanup(server.Close)
		return server.URL, last
	}
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	ours, first := serve()
	other, second := serve()
	o := &usageOptions{sources: []string{usagePrometheus}, address: ours, credentials: prometheus.Credentials{TokenFile: token}, tenant: "team", step: time.Minute}
	query := newQuery(o)
	for _, address := range []string{ours, other, ours} {
		elements, err := query(t.Context(), address, "up", time.Unix(1, 0))
		if err != nil || len(elements) != 1 || elements[0].Value != 0.5 || elements[0].Pod != "web" {
			t.Errorf("%s: %v, %v", address, elements, err)
		}
	}
	if want := (seen{"Bearer secret", "team"}); *first != want {
		t.Errorf("the Prometheus of usage got %+v", *first)
	}
	if *second != (seen{}) {
		t.Errorf("another Prometheus got %+v", *second)
	}
	o.sources = nil
	if _, err := newQuery(o)(t.Context(), ours, "up", time.Unix(1, 0)); err != nil || first.token != "" {
		t.Errorf("got %+v although usage is not read from it: %v", *first, err)
	}
	if _, err := query(t.Context(), "http://127.0.0.1:1", "up", time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Error(err)
	}
}

// The server has some memory, and an answer takes many times its size.
func TestObjectivesHaveSmallAnswers(t *testing.T) {
	element := strings.Repeat(`{"metric":{"namespace":"shop","pod":"web"},"value":[1,"0.5"]},`, 10_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[`))
		for range mostOfAnswer/len(element) + 1 {
			if _, err := w.Write([]byte(element)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	if _, err := newQuery(&usageOptions{})(t.Context(), server.URL, "up", time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), "larger than 24 MiB") {
		t.Error(err)
	}
}

// A pod that is missing would look as if it met its objective, and keep a size that hurts.
func TestObjectivesNeedCompleteAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[]}}`))
	}))
	t.Cleanup(server.Close)
	if _, err := newQuery(&usageOptions{})(t.Context(), server.URL, "up", time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), "isPartial") {
		t.Error(err)
	}
}
