package check

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
)

const (
	// soon is when an expiry needs attention, as for the alert WorkloadResizerCertificateExpiring.
	soon = 7 * 24 * time.Hour
	// renewal is the runbook for certificates.
	renewal = "docs/reference/alerts.md#workloadresizercertificateexpiring"
)

// certificates checks the certificate that the server serves, and the authority that callers trust.
func (s *subject) certificates(ctx context.Context) []Result {
	if s.status != nil && s.status.GetCertificateExpireTime() == nil {
		return []Result{ok("certificate", "the server has no certificate: it serves without TLS")}
	}
	found := s.authority(ctx)
	if s.status == nil {
		return found
	}
	return append(found, s.expiry("certificate", "the certificate of the server", s.status.GetCertificateExpireTime().AsTime()))
}

// authority checks the certificates that callers trust.
func (s *subject) authority(ctx context.Context) []Result {
	const check = "certificate-authority"
	name := s.namespace + "/" + client.AuthorityConfigMap
	cm, err := s.kube.CoreV1().ConfigMaps(s.namespace).Get(ctx, client.AuthorityConfigMap, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []Result{warning(check, "apply the manifests again, or set --certificate-authority or --plaintext", "there is no ConfigMap %s, so callers do not know which certificate to trust", name)}
	case err != nil:
		return []Result{unknown(check, "the ConfigMap "+name, err)}
	}
	var last time.Time
	for rest := []byte(cm.Data[client.AuthorityKey]); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return []Result{failure(check, renewal, "ConfigMap %s has a certificate that cannot be read: %v", name, err)}
		}
		if certificate.NotAfter.After(last) {
			last = certificate.NotAfter
		}
	}
	if last.IsZero() {
		return []Result{failure(check, "find out why: kubectl -n "+s.namespace+" logs deployment/"+s.service+"; "+renewal, "ConfigMap %s has no certificate yet", name)}
	}
	return []Result{s.expiry(check, "the authority of the certificate", last)}
}

func (s *subject) expiry(check, what string, at time.Time) Result {
	text := at.UTC().Format(time.RFC3339)
	switch left := at.Sub(s.now); {
	case left <= 0:
		return failure(check, renewal, "%s has expired at %s", what, text)
	case left < soon:
		return warning(check, renewal, "%s expires at %s, and is not renewed", what, text)
	}
	return ok(check, "%s is valid until %s", what, text)
}
