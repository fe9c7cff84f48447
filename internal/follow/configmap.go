package follow

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// ConfigMap names the one ConfigMap to follow. The client must be allowed to
// list and watch it, and must not limit the duration of a watch.
type ConfigMap struct {
	Client          kubernetes.Interface
	Namespace, Name string
}

// String names the ConfigMap in messages.
func (c ConfigMap) String() string { return "ConfigMap " + c.Namespace + "/" + c.Name }

// Run calls report with the state of the ConfigMap as soon as it is known, and then
// after each change, until ctx is done; then it returns nil. report receives the
// ConfigMap, or an error if it is missing (ErrMissing) or cannot be read. Calls of
// report are never concurrent, must not block, and end before Run returns. An error
// of Run means that it cannot continue.
func (c ConfigMap) Run(ctx context.Context, report func(*corev1.ConfigMap, error)) error {
	api := c.Client.CoreV1().ConfigMaps(c.Namespace)
	return source[*corev1.ConfigMap]{
		called: c.String(), client: c.Client, namespace: c.Namespace, name: c.Name,
		list: func(ctx context.Context, options metav1.ListOptions) (*corev1.ConfigMap, error) {
			list, err := api.List(ctx, options)
			if err != nil || len(list.Items) == 0 {
				return nil, err
			}
			return &list.Items[0], nil
		},
		watch: api.Watch,
		informer: func(factory informers.SharedInformerFactory) cache.SharedIndexInformer {
			return factory.Core().V1().ConfigMaps().Informer()
		},
	}.run(ctx, report)
}
