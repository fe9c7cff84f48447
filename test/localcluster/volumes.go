package localcluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// projectedTokenSeconds is the shortest lifetime of a token that the API server allows. It
// reveals servers that do not read the token again.
const projectedTokenSeconds = 600

// volumes writes the volumes of a pod to a root directory.
type volumes struct {
	client kubernetes.Interface
	pod    *corev1.Pod
	root   string
	// owner is the owner of the files; -1 means the user of this process.
	owner int
}

// write writes the current files of all volumes that a container mounts, each file atomically.
func (v *volumes) write(ctx context.Context, container *corev1.Container) error {
	for _, mount := range container.VolumeMounts {
		for _, volume := range v.pod.Spec.Volumes {
			if volume.Name != mount.Name {
				continue
			}
			dir := filepath.Join(v.root, mount.MountPath)
			files, err := v.files(ctx, &volume.VolumeSource)
			if err == nil {
				err = v.put(dir, files)
			}
			if err == nil && volume.EmptyDir != nil {
				err = os.Chown(dir, v.owner, -1)
			}
			if err != nil {
				return fmt.Errorf("volume %s: %w", volume.Name, err)
			}
		}
	}
	return nil
}

func (v *volumes) put(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := replace(path, content); err != nil {
			return err
		}
		if err := os.Chown(path, v.owner, -1); err != nil {
			return err
		}
	}
	return nil
}

// files returns the files of a volume by name.
func (v *volumes) files(ctx context.Context, volume *corev1.VolumeSource) (map[string][]byte, error) {
	switch {
	case volume.EmptyDir != nil:
		return nil, nil
	case volume.Secret != nil:
		return v.secret(ctx, volume.Secret.SecretName, volume.Secret.Items, volume.Secret.Optional)
	case volume.ConfigMap != nil:
		return v.configMap(ctx, volume.ConfigMap.Name, volume.ConfigMap.Items, volume.ConfigMap.Optional)
	case volume.Projected == nil:
		return nil, fmt.Errorf("unsupported kind of volume")
	}
	all := map[string][]byte{}
	for i := range volume.Projected.Sources {
		files, err := v.projected(ctx, &volume.Projected.Sources[i])
		if err != nil {
			return nil, err
		}
		for name, content := range files {
			all[name] = content
		}
	}
	return all, nil
}

func (v *volumes) projected(ctx context.Context, source *corev1.VolumeProjection) (map[string][]byte, error) {
	switch {
	case source.ServiceAccountToken != nil:
		token, err := v.token(ctx, source.ServiceAccountToken.Audience)
		return map[string][]byte{source.ServiceAccountToken.Path: []byte(token)}, err
	case source.Secret != nil:
		return v.secret(ctx, source.Secret.Name, source.Secret.Items, source.Secret.Optional)
	case source.ConfigMap != nil:
		return v.configMap(ctx, source.ConfigMap.Name, source.ConfigMap.Items, source.ConfigMap.Optional)
	case source.DownwardAPI != nil:
		files := map[string][]byte{}
		for _, item := range source.DownwardAPI.Items {
			if item.FieldRef == nil || item.FieldRef.FieldPath != "metadata.namespace" {
				return nil, fmt.Errorf("file %s has an unsupported field", item.Path)
			}
			files[item.Path] = []byte(v.pod.Namespace)
		}
		return files, nil
	}
	return nil, fmt.Errorf("unsupported kind of source")
}

func (v *volumes) token(ctx context.Context, audience string) (string, error) {
	seconds := int64(projectedTokenSeconds)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if audience != "" {
		request.Spec.Audiences = []string{audience}
	}
	request, err := v.client.CoreV1().ServiceAccounts(v.pod.Namespace).CreateToken(ctx, v.pod.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return request.Status.Token, nil
}

func (v *volumes) secret(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	secret, err := v.client.CoreV1().Secrets(v.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unless(optional, err)
	}
	return chosenItems(secret.Data, items), nil
}

func (v *volumes) configMap(ctx context.Context, name string, items []corev1.KeyToPath, optional *bool) (map[string][]byte, error) {
	cm, err := v.client.CoreV1().ConfigMaps(v.pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, unless(optional, err)
	}
	data := map[string][]byte{}
	for key, value := range cm.Data {
		data[key] = []byte(value)
	}
	return chosenItems(data, items), nil
}

// unless returns err, or nil if err means that an optional object does not exist.
func unless(optional *bool, err error) error {
	if optional != nil && *optional && apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// chosenItems returns the files that items select from data, or all of data without items.
func chosenItems(data map[string][]byte, items []corev1.KeyToPath) map[string][]byte {
	if len(items) == 0 {
		return data
	}
	files := map[string][]byte{}
	for _, item := range items {
		if content, has := data[item.Key]; has {
			files[item.Path] = content
		}
	}
	return files
}
