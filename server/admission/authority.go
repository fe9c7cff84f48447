package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Authority writes the authorities that sign the server's certificate to the MutatingWebhookConfiguration, so that the API
// server can verify whom it asks. All replicas try, and the first one writes.
type Authority struct {
	client  kubernetes.Interface
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

// NewAuthority returns an Authority for the ConfigMap with the authorities and the configuration.
func NewAuthority(client kubernetes.Interface, namespace, configMap, webhook string) *Authority {
	return &Authority{
		client: client, bundle: follow.ConfigMap{Client: client, Namespace: namespace, Name: configMap},
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
		var again <-chan time.Time
		if a.write(ctx) {
			again = time.After(retryAfter)
		}
		select {
		case <-ctx.Done():
		case <-a.changed:
		case <-again:
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

// write writes the authorities if they differ, and reports whether to try again soon.
func (a *Authority) write(ctx context.Context) bool {
	a.mu.Lock()
	bundle, webhook := a.seenBundle, a.seenWebhook
	a.mu.Unlock()
	if bundle == nil || webhook == nil || bundle.Data[authoritiesKey] == "" {
		return false
	}
	authorities, changed := []byte(bundle.Data[authoritiesKey]), webhook.DeepCopy()
	same := true
	for i := range changed.Webhooks {
		same = same && bytes.Equal(changed.Webhooks[i].ClientConfig.CABundle, authorities)
		changed.Webhooks[i].ClientConfig.CABundle = authorities
	}
	if same {
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
	klog.FromContext(ctx).Info("Wrote the certificate authorities for sizes at creation", "mutatingWebhookConfiguration", webhook.Name)
	return false
}

// Problem returns why the API server may be unable to verify the server; nil if there is no problem.
func (a *Authority) Problem() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.noBundle, a.noWebhook, a.last)
}

// note sets the problem of the last write, and logs it if it is new.
func (a *Authority) note(problem error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if problem != nil && (a.last == nil || a.last.Error() != problem.Error()) {
		klog.Background().Error(problem, "The certificate authorities for sizes at creation cannot be written")
	}
	a.last = problem
}
