package fetch

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// configMap is a feed in a ConfigMap.
type configMap struct {
	client               kubernetes.Interface
	namespace, name, key string
}

func (c *configMap) get(ctx context.Context, _ bool) ([]byte, error) {
	cm, err := c.client.CoreV1().ConfigMaps(c.namespace).Get(ctx, c.name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("the ConfigMap does not exist in namespace %s", c.namespace)
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("%w: allow the server to get this ConfigMap", err)
	case err != nil:
		return nil, err
	}
	if text, ok := cm.Data[c.key]; ok {
		return []byte(text), nil
	}
	if content, ok := cm.BinaryData[c.key]; ok {
		return content, nil
	}
	return nil, errors.New("the ConfigMap does not have the key")
}
