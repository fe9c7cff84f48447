package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// filled is the namespace of the pods that are resized, quiet of the pods that are
	// not, and templates of the pods that both are copies of.
	filled, quiet, templates = "bench", "bench-quiet", "bench-templates"
	// fastNodes is the number of nodes of type fast.
	fastNodes = 20
	// creators is the number of concurrent requests of the harness.
	creators = 16
)

// cluster is a control plane without kubelets, scheduler or controllers. The measured
// process shares the machine only with an API server and its etcd.
type cluster struct {
	*localcluster.Cluster
	client *kubernetes.Clientset
	// kubeconfig is the kubeconfig of the server's ServiceAccount. The bare client uses
	// it, too.
	kubeconfig string
	dir        string
}

func up(ctx context.Context) (*cluster, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	local, err := localcluster.Up(ctx, localcluster.Options{Dir: filepath.Join(dir, "cluster")})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &cluster{Cluster: local, dir: dir}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.down())
	}
	return c, nil
}

func (c *cluster) down() error { return errors.Join(c.Down(), os.RemoveAll(c.dir)) }

func (c *cluster) prepare(ctx context.Context) error {
	// Controllers would treat nodes without a kubelet as dead and delete their pods.
	for _, component := range []string{"kube-controller-manager", "kube-scheduler"} {
		if err := c.Stop(ctx, component); err != nil {
			return err
		}
	}
	var err error
	if c.client, err = kubernetes.NewForConfig(c.Config()); err != nil {
		return fmt.Errorf("set up a client: %w", err)
	}
	if err := localcluster.Apply(ctx, c.Config(), append(deploy.Base(), deploy.AnnotationGuard())...); err != nil {
		return err
	}
	if c.kubeconfig, err = localcluster.ServiceAccountKubeconfig(ctx, c.Config(), deploy.Namespace, deploy.ServiceAccount, c.dir); err != nil {
		return err
	}
	for _, namespace := range []string{filled, quiet, templates} {
		if _, err := c.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create a namespace: %w", err)
		}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "checkout"}}
		if _, err := c.client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create a ServiceAccount: %w", err)
		}
	}
	return c.nodes(ctx, fast, fastNodes)
}

// nodes creates nodes of a type, named TYPE-0, TYPE-1 and so on, with room for all pods.
func (c *cluster) nodes(ctx context.Context, nodeType string, count int) error {
	size := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10000"), corev1.ResourceMemory: resource.MustParse("100Ti"), corev1.ResourcePods: resource.MustParse("10000")}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := range count {
		group.Go(func() error {
			node := &corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: nodeType + "-" + strconv.Itoa(i), Labels: map[string]string{nodetype.LabelGCPMachineFamily: nodeType}},
				Status:     corev1.NodeStatus{Capacity: size, Allocatable: size},
			}
			if _, err := c.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create a node: %w", err)
			}
			return nil
		})
	}
	return group.Wait()
}

// fill creates or removes copies of the templates until the namespace holds that many,
// with workload copies per workload. It waits until the API server shows them.
func (c *cluster) fill(ctx context.Context, namespace string, copies, nodes, workload int, names ...string) error {
	binary, err := localcluster.Binary("testcluster")
	if err != nil {
		return err
	}
	args := []string{"fill", "--dir", c.Dir, "--namespace", namespace, "--copies", strconv.Itoa(copies), "--nodes", strconv.Itoa(nodes), "--per-workload", strconv.Itoa(workload)}
	for _, name := range names {
		args = append(args, "--template", templates+"/"+name)
	}
	if said, err := exec.CommandContext(ctx, binary, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("fill the cluster with %d pods: %w: %s", copies, err, said)
	}
	for {
		there, err := c.count(ctx, namespace)
		if err != nil || there == copies {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %d pods: %w: there are %d", copies, context.Cause(ctx), there)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (c *cluster) count(ctx context.Context, namespace string) (int, error) {
	list, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, fmt.Errorf("count the pods: %w", err)
	}
	count := len(list.Items)
	if list.RemainingItemCount != nil {
		count += int(*list.RemainingItemCount)
	}
	return count, nil
}

// empty removes all copies from a namespace.
func (c *cluster) empty(ctx context.Context, namespace string) error {
	return c.fill(ctx, namespace, 0, 0, 0)
}

// refresh replaces the pods in the cluster with new ones.
func (c *cluster) refresh(ctx context.Context, copies int, name string) error {
	if err := c.empty(ctx, filled); err != nil {
		return err
	}
	return c.fill(ctx, filled, copies, fastNodes, perWorkload, name)
}

// configure puts these ratios into effect. It sends nothing else to the API server,
// because the measured time begins with it.
func (c *cluster) configure(ctx context.Context, ratios string) error {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: deploy.ConfigMap}, Data: map[string]string{"config.yaml": ratios}}
	maps := c.client.CoreV1().ConfigMaps(deploy.Namespace)
	_, err := maps.Create(ctx, config, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = maps.Update(ctx, config, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("write the ratios: %w", err)
	}
	return nil
}

// forget removes the ratios, so that a server starts without any.
func (c *cluster) forget(ctx context.Context) error {
	err := c.client.CoreV1().ConfigMaps(deploy.Namespace).Delete(ctx, deploy.ConfigMap, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the ratios: %w", err)
	}
	return nil
}
