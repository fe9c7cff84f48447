package admission

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Authority writes to the MutatingWebhookConfiguration which authorities sign the server's certificate, so that the API
// server can verify whom it asks, and a path with a token, so that the server can verify the caller. All replicas try, and the
// first one writes.
type Authority struct {
	client  kubernetes.Interface
	token   func() string
	bundle  follow.ConfigMap
	webhook follow.MutatingWebhook
	changed chan struct{}

	mu              sync.Mutex
	seenBundle      *corev1.ConfigMap
	seenWebhook     *admissionregistrationv1.MutatingWebhookConfiguration
	noBundle        error
	noWebhook, last error
}

// authoritiesKey is the key of the ConfigMap.
const authoritiesKey = "ca.crt"

// NewAuthority returns an Authority for the ConfigMap with the authorities and the configuration. token returns the present
// token; empty if there is none yet.
func NewAuthority(client kubernetes.Interface, namespace, configMap, webhook string, token func() string) *Authority {
	return &Authority{
		client: client, token: token, bundle: follow.ConfigMap{Client: client, Namespace: namespace, Name: configMap},
		webhook: follow.MutatingWebhook{Client: client, Name: webhook}, changed: make(chan struct{}, 1),
	}
}

// Run keeps the configuration up to date until ctx is done; then it returns nil.
func (a *Authority) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var following sync.WaitGroup
	var bundleEnd, webhookEnd error
	following.Go(func() {
		defer cancel()
		bundleEnd = a.bundle.Run(ctx, func(seen *corev1.ConfigMap, err error) {
			a.take(func() { a.seenBundle, a.noBundle = seen, err })
		})
	})
	following.Go(func() {
		defer cancel()
		webhookEnd = a.webhook.Run(ctx, func(seen *admissionregistrationv1.MutatingWebhookConfiguration, err error) {
			a.take(func() { a.seenWebhook, a.noWebhook = seen, err })
		})
	})
	for ctx.Err() == nil {
		again, changed := renewalPeriod, a.changed // After that time, there may be another token.
		if a.write(ctx) {
			// Replicas that disagree, as long as one of them lacks a key, must not answer each other immediately.
			again, changed = retryAfter, nil
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(again):
		}
	}
	following.Wait()
	return errors.Join(bundleEnd, webhookEnd)
}

func (a *Authority) take(set func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	set()
	select {
	case a.changed <- struct{}{}:
	default: // A look is pending.
	}
}

// write writes the authorities and the path if they differ, and reports whether to look again soon, and not before.
func (a *Authority) write(ctx context.Context) bool {
	a.mu.Lock()
	bundle, webhook := a.seenBundle, a.seenWebhook
	a.mu.Unlock()
	if bundle == nil || webhook == nil || bundle.Data[authoritiesKey] == "" {
		return false
	}
	token := a.token()
	if token == "" {
		return true
	}
	changed := webhook.DeepCopy()
	for i := range changed.Webhooks {
		tell(&changed.Webhooks[i].ClientConfig, []byte(bundle.Data[authoritiesKey]), Path+token)
	}
	if equality.Semantic.DeepEqual(webhook, changed) {
		a.note(nil)
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	_, err := a.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Update(ctx, changed, metav1.UpdateOptions{FieldManager: contract.FieldManager})
	switch {
	case apierrors.IsConflict(err):
		return true // Another replica was faster; the watch delivers its change.
	case err != nil:
		a.note(fmt.Errorf("write %s: %w", a.webhook, err))
		return true
	}
	a.note(nil)
	klog.FromContext(ctx).Info("Wrote the certificate authorities and the path for sizes at creation", "mutatingWebhookConfiguration", webhook.Name)
	return true
}

// tell changes where the API server asks, and how it verifies whom.
func tell(to *admissionregistrationv1.WebhookClientConfig, authorities []byte, path string) {
	to.CABundle = authorities
	if to.Service != nil {
		to.Service.Path = &path
	}
	if to.URL != nil {
		if at, err := url.Parse(*to.URL); err == nil {
			at.Path = path
			to.URL = ptr.To(at.String())
		}
	}
}

// Problem returns why the API server may be unable to verify the server; nil if there is no problem.
func (a *Authority) Problem() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var unknown error
	if a.seenBundle != nil && a.seenBundle.Data[authoritiesKey] == "" {
		unknown = fmt.Errorf("%s has no %s: store the authority in it that signs the server's certificate", a.bundle, authoritiesKey)
	}
	return errors.Join(a.noBundle, unknown, a.noWebhook, a.last)
}

// note sets the problem of the last write, and logs it if it is new.
func (a *Authority) note(problem error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if problem != nil && (a.last == nil || a.last.Error() != problem.Error()) {
		klog.Background().Error(problem, "The certificate authorities and the path for sizes at creation cannot be written")
	}
	a.last = problem
}
