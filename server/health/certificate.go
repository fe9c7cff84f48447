package health

import (
	"fmt"
	"time"
)

// Certificate reports the state of the serving certificate.
type Certificate interface {
	// Ready returns why callers cannot connect yet, nil once they can.
	Ready() error
	// Problem returns why the last good certificate is in effect, or why the certificate
	// cannot be renewed; nil if there is no problem.
	Problem() error
	// Expiry returns when the certificate in effect expires; zero if there is none.
	Expiry() time.Time
}

// CertificateProblem returns what is wrong with the certificate in effect; nil if nothing is.
func (h *Health) CertificateProblem() error {
	if h.config.Certificate == nil {
		return nil
	}
	if err := h.config.Certificate.Problem(); err != nil {
		return fmt.Errorf("the last good serving certificate is in effect: %w", err)
	}
	return nil
}

// CertificateExpires returns when the certificate in effect expires; zero if there is none.
func (h *Health) CertificateExpires() time.Time {
	if h.config.Certificate == nil {
		return time.Time{}
	}
	return h.config.Certificate.Expiry()
}
