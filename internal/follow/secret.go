package follow

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Secret names the one Secret to follow. The client must be allowed to
// list and watch it, and must not limit the duration of a watch.
type Secret struct {
	Client          kubernetes.Interface
	Namespace, Name string
}

// String names the Secret in messages.
func (s Secret) String() string { return "Secret " + s.Namespace + "/" + s.Name }

// Run calls report with the state of the Secret as soon as it is known, and then
// after each change, until ctx is done; then it returns nil. report receives the
// Secret, or an error if it is missing (ErrMissing) or cannot be read. Calls of
// report are never concurrent, must not block, and end before Run returns. An error
// of Run means that it cannot continue.
func (s Secret) Run(ctx context.Context, report func(*corev1.Secret, error)) error {
	api := s.Client.CoreV1().Secrets(s.Namespace)
	return source[*corev1.Secret]{
		called: s.String(), client: s.Client, namespace: s.Namespace, name: s.Name,
		list: func(ctx context.Context, options metav1.ListOptions) (*corev1.Secret, error) {
			list, err := api.List(ctx, options)
			if err != nil || len(list.Items) == 0 {
				return nil, err
			}
			return &list.Items[0], nil
		},
		watch: api.Watch,
		informer: func(factory informers.SharedInformerFactory) cache.SharedIndexInformer {
			return factory.Core().V1().Secrets().Informer()
		},
	}.run(ctx, report)
}
