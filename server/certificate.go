package server

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// certificateProblem tells what is wrong with a certificate that is in force.
func (c *Config) certificateProblem() error {
	if c.Certificate == nil {
		return nil
	}
	if err := c.Certificate.Problem(); err != nil {
		return fmt.Errorf("the serving certificate is the last good one: %w", err)
	}
	return nil
}

// expiryCollector exposes when the serving certificate expires, if there is one.
type expiryCollector struct {
	certificate Certificate
	expiry      *prometheus.Desc
}

func newExpiryCollector(certificate Certificate) *expiryCollector {
	return &expiryCollector{certificate, prometheus.NewDesc("workload_resizer_tls_certificate_expiry_timestamp_seconds",
		"When the serving certificate of the gRPC API expires, in seconds since 1970.", nil, nil)}
}

// Describe implements prometheus.Collector.
func (c *expiryCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.expiry }

// Collect implements prometheus.Collector.
func (c *expiryCollector) Collect(metrics chan<- prometheus.Metric) {
	if expiry := c.certificate.Expiry(); !expiry.IsZero() {
		metrics <- prometheus.MustNewConstMetric(c.expiry, prometheus.GaugeValue, float64(expiry.Unix()))
	}
}
