package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// identityIn sets the identity of the caller: the one that an option names, or else the
// user of the kubeconfig. That user's credentials are never sent in plaintext, and a token
// is never sent to a server that it is not for.
func (o *options) identityIn(config *rest.Config, core corev1client.ServiceAccountsGetter) error {
	account := o.cluster.serviceAccount
	switch {
	case account.Name != "" && (o.token != nil || o.tls.certificate != nil):
		return errors.New("WithServiceAccountToken cannot be combined with other tokens or client certificates")
	case account.Name != "":
		o.token = newAccountToken(core, account, o.cluster.audience).get
		return nil
	case o.token != nil, o.tls.certificate != nil, o.plaintext:
		return nil
	case config.Impersonate.UserName != "":
		return fmt.Errorf("impersonate %q: workload-resizer does not support impersonation; only the API server does", config.Impersonate.UserName)
	}
	o.unauthenticated = fmt.Sprintf("the credentials of the kubeconfig's user may not be for this server: a token must be for the audience %q, "+
		"as one requested for a ServiceAccount is", o.cluster.audience)
	return o.useConfig(config)
}

// useConfig uses the credentials of a kubeconfig as client-go would: tokens, files with
// tokens, exec plugins, client certificates.
func (o *options) useConfig(config *rest.Config) error {
	wiring, err := config.TransportConfig()
	if err != nil {
		return fmt.Errorf("use the credentials of the kubeconfig: %w", err)
	}
	wrapped, err := transport.HTTPWrappersForConfig(wiring, echo{})
	if err != nil {
		return fmt.Errorf("use the credentials of the kubeconfig: %w", err)
	}
	o.token = o.cluster.guarded(func(ctx context.Context) (string, error) { return tokenSentBy(ctx, wrapped) })
	security, err := transport.TLSConfigFor(wiring)
	if err != nil {
		return fmt.Errorf("use the credentials of the kubeconfig: %w", err)
	}
	if security != nil && security.GetClientCertificate != nil {
		o.tls.certificate = ifAccepted(security.GetClientCertificate)
	}
	return nil
}

// echo answers a request with the headers that it would have been sent with.
type echo struct{}

// RoundTrip implements http.RoundTripper.
func (echo) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: request.Header.Clone(), Request: request}, nil
}

// tokenSentBy returns the bearer token that wrapped adds to requests; empty if none.
func tokenSentBy(ctx context.Context, wrapped http.RoundTripper) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://kubernetes.default.svc", nil)
	if err != nil {
		return "", err
	}
	sent, err := wrapped.RoundTrip(request)
	if err != nil {
		return "", fmt.Errorf("use the credentials of the kubeconfig: %w", err)
	}
	defer func() { _ = sent.Body.Close() }()
	token, isBearer := strings.CutPrefix(sent.Header.Get("Authorization"), "Bearer ")
	if !isBearer {
		return "", nil
	}
	return token, nil
}

// ifAccepted presents a certificate only to servers that trust its authority: others would
// refuse the connection instead of asking for a token.
func ifAccepted(get func(*tls.CertificateRequestInfo) (*tls.Certificate, error)) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		certificate, err := get(asked)
		if err != nil {
			return nil, err
		}
		if asked.SupportsCertificate(certificate) != nil {
			return &tls.Certificate{}, nil
		}
		return certificate, nil
	}
}
