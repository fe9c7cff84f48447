package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const (
	// namespace has the pod.
	namespace = "shop"
	// agents is the namespace of the agents, and agentAccount their ServiceAccount.
	agents, agentAccount = "workload-resizer-agents", "workload-resizer-report-usage"
)

// configuration has the ratios, and the namespace.
const configuration = `apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n2d
    nodeTypes:
      n2d: {cpuPerf: 1, memPerf: 1}
---
apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
`

// node is what the API server knows of the virtual machine.
type node struct {
	// pod is the UID of the pod.
	pod string
	// agentToken is the file with the token of the agent, and viewerToken that of a user.
	agentToken, viewerToken string
}

// newNode creates a node, a pod with two containers, and an agent there.
func newNode(ctx context.Context, cluster *localcluster.Cluster, dir string) (*node, error) {
	api, err := kubernetes.NewForConfig(cluster.Config())
	if err != nil {
		return nil, err
	}
	manifests := append(deploy.Base(), []byte(configuration))
	for _, file := range []string{"namespace.yaml", "rbac.yaml"} {
		content, err := os.ReadFile(filepath.Join("deploy/components/report-usage", file))
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, content)
	}
	if err := localcluster.Apply(ctx, cluster.Config(), manifests...); err != nil {
		return nil, err
	}
	machine, err := api.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "vm", Labels: map[string]string{"cloud.google.com/machine-family": "n2d"}}}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	web, err := create(ctx, api, namespace, "web", "default", machine, "burn", "hold")
	if err != nil {
		return nil, err
	}
	web.Status.Phase = corev1.PodRunning
	for i, digit := range []string{"1", "2"} {
		web.Status.ContainerStatuses = append(web.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: web.Spec.Containers[i].Name, Ready: true, ContainerID: "containerd://" + strings.Repeat(digit, 64),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
		})
	}
	if _, err := api.CoreV1().Pods(namespace).UpdateStatus(ctx, web, metav1.UpdateOptions{}); err != nil {
		return nil, err
	}
	agent, err := create(ctx, api, agents, "agent", agentAccount, machine, "report-usage")
	if err != nil {
		return nil, err
	}
	n := &node{pod: string(web.UID), agentToken: filepath.Join(dir, "agent-token"), viewerToken: filepath.Join(dir, "viewer-token")}
	bound := &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: agent.Name, UID: agent.UID}
	if err := writeToken(ctx, api, agents, agentAccount, bound, n.agentToken); err != nil {
		return nil, err
	}
	for _, role := range []string{"workload-resizer-admin", "view"} {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "viewer-" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}},
		}
		if _, err := api.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	return n, writeToken(ctx, api, namespace, "default", nil, n.viewerToken)
}

// create creates a ReplicaSet, and returns its pod on a node. Usage of a pod without a workload does not count.
func create(ctx context.Context, api kubernetes.Interface, namespace, name, account string, on *corev1.Node, containers ...string) (made *corev1.Pod, err error) {
	no, labels := false, map[string]string{"app": name}
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.ReplicaSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeName: on.Name, ServiceAccountName: account, AutomountServiceAccountToken: &no,
					Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				},
			},
		},
	}
	of := &set.Spec.Template.Spec
	for _, container := range containers {
		of.Containers = append(of.Containers, corev1.Container{Name: container, Image: "none", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
		}})
	}
	if _, err := api.AppsV1().ReplicaSets(namespace).Create(ctx, set, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		pods, err := api.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + name})
		if err != nil || len(pods.Items) == 0 {
			return false, err
		}
		made = &pods.Items[0]
		return true, nil
	})
	if err != nil {
		return nil, fmt.Errorf("wait for the pod of ReplicaSet %s/%s: %w", namespace, name, err)
	}
	return made, nil
}

// writeToken writes a token for the server's API.
func writeToken(ctx context.Context, api kubernetes.Interface, namespace, account string, bound *authenticationv1.BoundObjectReference, path string) error {
	token, err := api.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"workload-resizer.io"}, BoundObjectRef: bound},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create a token of ServiceAccount %s/%s: %w", namespace, account, err)
	}
	return os.WriteFile(path, []byte(token.Status.Token), 0o600)
}
