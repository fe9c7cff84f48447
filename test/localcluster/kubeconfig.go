package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// tokenLife is how long the token of a kubeconfig is valid. The token is not renewed, and a
// demo may run for a day.
const tokenLife = 24 * time.Hour

// KubeconfigOption changes the cluster of a kubeconfig.
type KubeconfigOption func(*clientcmdapi.Cluster)

// WithServer makes the kubeconfig point to url, whose certificate is signed by the authority
// ca (PEM). If ca is nil, the cluster's authority is kept.
func WithServer(url string, ca []byte) KubeconfigOption {
	return func(c *clientcmdapi.Cluster) {
		c.Server = url
		if ca != nil {
			c.CertificateAuthorityData = ca
		}
	}
}

// ServiceAccountKubeconfig writes a kubeconfig with a token of a ServiceAccount to dir, readable
// only by its owner, and returns its path. The path depends only on the ServiceAccount. An
// existing file is replaced.
func ServiceAccountKubeconfig(ctx context.Context, cfg *rest.Config, namespace, name, dir string, options ...KubeconfigOption) (path string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("create a kubeconfig of ServiceAccount %s/%s: %w", namespace, name, err)
		}
	}()
	token, err := requestToken(ctx, cfg, namespace, name)
	if err != nil {
		return "", err
	}
	ca, err := authority(cfg)
	if err != nil {
		return "", err
	}
	cluster := &clientcmdapi.Cluster{Server: cfg.Host, CertificateAuthorityData: ca}
	for _, change := range options {
		change(cluster)
	}
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"cluster": cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: token}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: "cluster", AuthInfo: name, Namespace: namespace}},
		CurrentContext: name,
	})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, namespace+"."+name+".kubeconfig")
	return path, replace(path, content)
}

func requestToken(ctx context.Context, cfg *rest.Config, namespace, name string) (string, error) {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return "", err
	}
	seconds := int64(tokenLife / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	request, err = client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request a token: %w", err)
	}
	return request.Status.Token, nil
}

func authority(cfg *rest.Config) ([]byte, error) {
	if len(cfg.CAData) > 0 || cfg.CAFile == "" {
		return cfg.CAData, nil
	}
	return os.ReadFile(cfg.CAFile)
}

// replace writes a file that only its owner may read, regardless of the mode of the file that
// it replaces.
func replace(path string, content []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if _, err := file.Write(content); err != nil {
		return errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
