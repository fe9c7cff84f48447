package health

import (
	"fmt"
	"time"
)

// Certificate is what is known of the serving certificate.
type Certificate interface {
	// Ready returns why nobody can connect yet, nil once they can.
	Ready() error
	// Problem returns why the last good certificate is in force, or why it cannot be
	// renewed; nil if all is well.
	Problem() error
	// Expiry is when the one in force expires; zero if there is none.
	Expiry() time.Time
}

// CertificateProblem says what is wrong with a certificate that is in force; nil if nothing.
func (h *Health) CertificateProblem() error {
	if h.config.Certificate == nil {
		return nil
	}
	if err := h.config.Certificate.Problem(); err != nil {
		return fmt.Errorf("the serving certificate is the last good one: %w", err)
	}
	return nil
}
