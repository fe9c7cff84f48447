package follow

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// MutatingWebhook names the one MutatingWebhookConfiguration to follow. The client must be allowed to
// list and watch it, and must not limit the duration of a watch.
type MutatingWebhook struct {
	Client kubernetes.Interface
	Name   string
}

// String names the configuration in messages.
func (w MutatingWebhook) String() string { return "MutatingWebhookConfiguration " + w.Name }

// Run calls report with the state of the configuration as soon as it is known, and then
// after each change, until ctx is done; then it returns nil. report receives the
// configuration, or an error if it is missing (ErrMissing) or cannot be read. Calls of
// report are never concurrent, must not block, and end before Run returns. An error
// of Run means that it cannot continue.
func (w MutatingWebhook) Run(ctx context.Context, report func(*admissionregistrationv1.MutatingWebhookConfiguration, error)) error {
	api := w.Client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	return source[*admissionregistrationv1.MutatingWebhookConfiguration]{
		called: w.String(), client: w.Client, name: w.Name,
		list: func(ctx context.Context, options metav1.ListOptions) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
			list, err := api.List(ctx, options)
			if err != nil || len(list.Items) == 0 {
				return nil, err
			}
			return &list.Items[0], nil
		},
		watch: api.Watch,
		informer: func(factory informers.SharedInformerFactory) cache.SharedIndexInformer {
			return factory.Admissionregistration().V1().MutatingWebhookConfigurations().Informer()
		},
	}.run(ctx, report)
}
