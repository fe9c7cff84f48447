package e2e

import (
	"context"
	"fmt"
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// app is a Deployment of pods with one container, "app".
type app struct {
	// name is also the pods' label "app".
	name string
	// nodeType is the type of the nodes on which the pods may run.
	nodeType string
	// replicas is the number of pods; 0 means 1.
	replicas int32
	// requests and limits are CPU and memory. Without limits, the limits equal the
	// requests, so that the pods are Guaranteed.
	requests, limits [2]string
	// labels, annotations and selector belong to the pods. selector further restricts the
	// nodes.
	labels, annotations, selector map[string]string
}

// small is the smallest size at which resizes can be distinguished.
var small = [2]string{"100m", "64Mi"}

// namespace creates a namespace that is deleted after the test.
func (c *cluster) namespace(t *testing.T, name string) {
	t.Helper()
	_, err := c.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.client.CoreV1().Namespaces().Delete(context.WithoutCancel(t.Context()), name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// deploy creates Deployments and waits until all pods in the namespace run.
func (c *cluster) deploy(t *testing.T, namespace string, apps ...app) {
	t.Helper()
	for _, a := range apps {
		if _, err := c.client.AppsV1().Deployments(namespace).Create(t.Context(), a.deployment(), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.awaitDeployed(t, namespace)
}

// awaitDeployed waits until all pods of the Deployments in the namespace exist and run.
func (c *cluster) awaitDeployed(t *testing.T, namespace string) {
	t.Helper()
	list, err := c.client.AppsV1().Deployments(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wanted := 0
	for i := range list.Items {
		wanted += int(*list.Items[i].Spec.Replicas)
	}
	c.awaitRunning(t, namespace, wanted)
}

// scale sets the replicas of a Deployment and waits until they run.
func (c *cluster) scale(t *testing.T, namespace, name string, replicas int32) {
	t.Helper()
	scale, err := c.client.AppsV1().Deployments(namespace).GetScale(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scale.Spec.Replicas = replicas
	if _, err := c.client.AppsV1().Deployments(namespace).UpdateScale(t.Context(), name, scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.awaitDeployed(t, namespace)
}

func (a app) deployment() *appsv1.Deployment {
	labels := map[string]string{"app": a.name}
	maps.Copy(labels, a.labels)
	selector := map[string]string{}
	if a.nodeType != "" {
		selector["cloud.google.com/machine-family"] = a.nodeType
	}
	maps.Copy(selector, a.selector)
	replicas, noGrace := max(a.replicas, 1), int64(1)
	limits := a.limits
	if limits == [2]string{} {
		limits = a.requests
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: a.name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": a.name}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: a.annotations},
				Spec: corev1.PodSpec{
					NodeSelector:                  selector,
					TerminationGracePeriodSeconds: &noGrace,
					Containers: []corev1.Container{{
						Name: "app", Image: "registry.k8s.io/pause:3.10",
						Resources: corev1.ResourceRequirements{Requests: amounts(a.requests), Limits: amounts(limits)},
					}},
				},
			},
		},
	}
}

func amounts(cpuAndMemory [2]string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(cpuAndMemory[0]),
		corev1.ResourceMemory: resource.MustParse(cpuAndMemory[1]),
	}
}

// of returns the pods of an app, except for terminating ones.
func (c *cluster) of(t *testing.T, namespace, app string) []corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	for _, p := range c.pods(t, namespace) {
		if p.Labels["app"] == app && p.DeletionTimestamp == nil {
			pods = append(pods, p)
		}
	}
	return pods
}

// one returns the only pod of an app.
func (c *cluster) one(t *testing.T, namespace, app string) *corev1.Pod {
	t.Helper()
	pods := c.of(t, namespace, app)
	if len(pods) != 1 {
		t.Fatalf("app %s has %d pods, want 1", app, len(pods))
	}
	return &pods[0]
}

// awaitCPU waits until the pods of an app request this much CPU, run with it, and are
// annotated.
func (c *cluster) awaitCPU(t *testing.T, namespace, app, want string) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("%s/%s to have %s", namespace, app, want), func() error {
		pods := c.of(t, namespace, app)
		if len(pods) == 0 {
			return fmt.Errorf("there is no pod")
		}
		for i := range pods {
			if err := hasCPU(&pods[i], want); err != nil {
				return err
			}
			if pods[i].Annotations["workload-resizer.io/applied-instance-type"] == "" {
				return fmt.Errorf("pod %s is not annotated", pods[i].Name)
			}
		}
		return nil
	})
}

// checkCPU checks that the pods of an app request this much CPU and run with it.
func (c *cluster) checkCPU(t *testing.T, namespace, app, want string) {
	t.Helper()
	for _, p := range c.of(t, namespace, app) {
		if err := hasCPU(&p, want); err != nil {
			t.Error(err)
		}
	}
}

func hasCPU(p *corev1.Pod, want string) error {
	spec := text(p.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU)
	status := statusOf(p, p.Spec.Containers[0].Name)
	if spec != want || status == nil || status.Resources == nil || text(status.Resources.Requests, corev1.ResourceCPU) != want {
		return fmt.Errorf("pod %s/%s requests %s, want %s, and its status is %v", p.Namespace, p.Name, spec, want, status)
	}
	return nil
}
