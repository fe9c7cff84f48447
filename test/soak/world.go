package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// grantAccess creates a ServiceAccount that may change ratios through the API and read
// profiles. The authority of the servers is known only when one of them runs.
func grantAccess(ctx context.Context, client kubernetes.Interface, dir string) (access, error) {
	a := access{filepath.Join(dir, "ca.crt"), filepath.Join(dir, "token")}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "soak", Namespace: metav1.NamespaceDefault}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "soak"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "workload-resizer-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: account.Name}},
	}
	if _, err := client.CoreV1().ServiceAccounts(account.Namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return a, err
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return a, err
	}
	day := int64(24 * time.Hour / time.Second)
	token, err := client.CoreV1().ServiceAccounts(account.Namespace).CreateToken(ctx, account.Name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"workload-resizer.io"}, ExpirationSeconds: &day},
	}, metav1.CreateOptions{})
	if err != nil {
		return a, err
	}
	return a, os.WriteFile(a.tokenFile, []byte(token.Status.Token), 0o600)
}

// awaitAuthority writes the certificate authority that callers must trust to its file.
func awaitAuthority(ctx context.Context, client kubernetes.Interface, a access) error {
	return patiently(ctx, "wait for the authority of the servers", func() error {
		return localcluster.WriteAuthority(ctx, client, deploy.Namespace, "workload-resizer-ca", a.authorityFile)
	})
}

// populate creates Deployments of all shapes on all node types, with about this many pods
// in total. It returns the number of pods.
func populate(ctx context.Context, client kubernetes.Interface, pods int) (int, error) {
	if _, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		return 0, err
	}
	each := max(1, pods/len(nodeTypes)/len(shapes))
	for _, nodeType := range nodeTypes {
		for shape := range shapes {
			if _, err := client.AppsV1().Deployments(namespace).Create(ctx, workload(nodeType, shape, int32(each)), metav1.CreateOptions{}); err != nil {
				return 0, err
			}
		}
	}
	return each * len(nodeTypes) * len(shapes), nil
}

// follow passes all pods to the judge, and returns their informer.
func follow(ctx context.Context, client kubernetes.Interface, j *judge) (cache.SharedIndexInformer, informers.SharedInformerFactory, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	pods := factory.Core().V1().Pods().Informer()
	if _, err := pods.AddEventHandler(j.handler()); err != nil {
		return nil, nil, err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced) {
		return nil, nil, context.Cause(ctx)
	}
	return pods, factory, nil
}

// awaitFinal waits until there are that many pods and all of them are correct. It returns
// the number of pods that it checked.
func awaitFinal(ctx context.Context, client kubernetes.Interface, j *judge, population int) (checked int, err error) {
	err = patiently(ctx, "wait for every pod to be correct", func() error {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(pods.Items) != population {
			return fmt.Errorf("there are %d pods, not %d", len(pods.Items), population)
		}
		for i := range pods.Items {
			if err := j.final(&pods.Items[i]); err != nil {
				return err
			}
		}
		checked = len(pods.Items)
		return nil
	})
	return checked, err
}

func sortByAge(pods []*corev1.Pod) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
}
