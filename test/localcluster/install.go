package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// Install applies a kustomization, a folder of the repository, as users do, and waits until all
// pods of a Deployment are ready. Pods in this cluster run no programs, so Install scales the
// Deployment down; use NewContainer to start its servers.
func (c *Cluster) Install(ctx context.Context, kustomization, namespace, deployment string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	if err := c.kubectl(ctx, "apply", "-k", filepath.Join(root, kustomization)); err != nil {
		return err
	}
	if err := awaitReplicas(ctx, client, namespace, deployment); err != nil {
		return err
	}
	if err := c.kubectl(ctx, "-n", namespace, "scale", "deployment", deployment, "--replicas=0"); err != nil {
		return err
	}
	return awaitReplicas(ctx, client, namespace, deployment)
}

// kubectl runs kubectl as the cluster's administrator.
func (c *Cluster) kubectl(ctx context.Context, args ...string) error {
	kubectl, err := Binary("kubectl")
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, kubectl, append([]string{"--kubeconfig", c.Kubeconfig}, args...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %q: %w: %s", args, err, out)
	}
	return nil
}

// awaitReplicas waits until a Deployment has the desired number of pods, all of them ready.
func awaitReplicas(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, Patience, true, func(ctx context.Context) (bool, error) {
		last = hasReplicas(ctx, client, namespace, name)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for the pods of Deployment %s/%s: %w", namespace, name, errors.Join(err, last))
	}
	return nil
}

func hasReplicas(ctx context.Context, client kubernetes.Interface, namespace, name string) error {
	d, err := client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(d.Spec.Selector)})
	if err != nil {
		return err
	}
	if want := int(*d.Spec.Replicas); len(pods.Items) != want || int(d.Status.ReadyReplicas) != want {
		return fmt.Errorf("got %d pods, want %d; the status is %v", len(pods.Items), want, d.Status)
	}
	return nil
}

// WriteAuthority writes the authority in a ConfigMap, its key ca.crt, to a file. It returns an
// error if the ConfigMap has none yet.
func WriteAuthority(ctx context.Context, client kubernetes.Interface, namespace, configMap, path string) error {
	cm, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, configMap, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if cm.Data["ca.crt"] == "" {
		return fmt.Errorf("ConfigMap %s/%s has no ca.crt", namespace, configMap)
	}
	return os.WriteFile(path, []byte(cm.Data["ca.crt"]), 0o600)
}

// Shell runs commands with bash, as a user of the kubeconfig would, and returns their output.
func Shell(ctx context.Context, kubeconfig, commands string) (string, error) {
	kubectl, err := Binary("kubectl")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	command.Env = append(os.Environ(), "PATH="+filepath.Dir(kubectl)+":"+os.Getenv("PATH"), "KUBECONFIG="+kubeconfig)
	out, err := command.CombinedOutput()
	return string(out), err
}
