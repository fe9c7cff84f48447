package server

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server/health"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// certificate is a certificate that the test controls.
type certificate struct {
	ready, problem error
	expiry         time.Time
}

func (c *certificate) Ready() error      { return c.ready }
func (c *certificate) Problem() error    { return c.problem }
func (c *certificate) Expiry() time.Time { return c.expiry }

func TestCertificate(t *testing.T) {
	t.Run("probes and metrics report the certificate", probesAndMetricsReportTheCertificate)
}

func probesAndMetricsReportTheCertificate(t *testing.T) {
	const metric = "\nworkload_resizer_tls_certificate_expiry_timestamp_seconds 1.7e+09\n"
	expiry, why := time.Unix(1_700_000_000, 0), errors.New("Secret a/b is broken")
	for _, tc := range []struct {
		name        string
		certificate health.Certificate
		code        int
		body        string
		metric      bool
	}{
		{"no certificate in plaintext", nil, http.StatusOK, "", false},
		{"a good certificate", &certificate{expiry: expiry}, http.StatusOK, "", true},
		{"the last good certificate", &certificate{problem: why, expiry: expiry}, http.StatusOK, "warning: certificate: the last good serving certificate is in effect\n", true},
		{"no certificate yet", &certificate{ready: why, problem: why}, http.StatusServiceUnavailable, "not ready: certificate: there is no serving certificate yet\n", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			store := ratios.NewStore(ratiotest.NewMemory("configmap", ratios.Update{Layer: servertest.Layer()}))
			config := Config{
				Ratios: store, Planner: &plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}, Limits: limits.Default,
				Metrics: prometheus.NewRegistry(), GRPC: servertest.Listen(t), HTTP: servertest.Listen(t), Certificate: tc.certificate,
			}
			r := &running{http: "http://" + config.HTTP.Addr().String()}
			known := store.Watch()
			servertest.Run(t, store.Run, New(config).Run)
			<-known
			code, body := r.get(t, "/readyz")
			body, _, _ = strings.Cut(strings.TrimPrefix(body, "ok\n"), "The cause is ")
			if code != tc.code || body != tc.body {
				t.Errorf("/readyz returns %d %q, want %d %q", code, body, tc.code, tc.body)
			}
			if _, body := r.get(t, "/metrics"); strings.Contains(body, metric) != tc.metric {
				t.Errorf("/metrics has the expiry: %v, want %v\n%s", !tc.metric, tc.metric, body)
			}
		})
	}
}
