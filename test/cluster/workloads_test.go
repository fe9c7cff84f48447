package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const namespace = "default"

func testWorkloads(t *testing.T, client kubernetes.Interface) {
	guaranteed := newTemplate("guaranteed", resources("500m", "256Mi", "500m", "256Mi"))
	// A sidecar, an ordinary init container and two containers.
	burstable := newTemplate("burstable", resources("100m", "64Mi", "200m", "128Mi"))
	always := corev1.ContainerRestartPolicyAlways
	burstable.Spec.InitContainers = []corev1.Container{
		{Name: "setup", Image: "simulated/setup"},
		{Name: "sidecar", Image: "simulated/sidecar", RestartPolicy: &always, Resources: resources("50m", "32Mi", "", "")},
	}
	burstable.Spec.Containers = append(burstable.Spec.Containers,
		corev1.Container{Name: "second", Image: "simulated/second", Resources: resources("50m", "32Mi", "", "")})
	job := newTemplate("job", resources("50m", "32Mi", "", ""))
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	job.Spec.Containers[0].Command = []string{"sleep", "0.2"}

	ctx := t.Context()
	objects := []func() error{
		func() error {
			_, err := client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
				ObjectMeta: metav1.ObjectMeta{Name: "guaranteed"},
				Spec:       appsv1.DeploymentSpec{Selector: selector("guaranteed"), Template: guaranteed},
			}, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := client.AppsV1().StatefulSets(namespace).Create(ctx, &appsv1.StatefulSet{
				ObjectMeta: metav1.ObjectMeta{Name: "burstable"},
				Spec:       appsv1.StatefulSetSpec{Selector: selector("burstable"), Template: burstable},
			}, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := client.AppsV1().DaemonSets(namespace).Create(ctx, &appsv1.DaemonSet{
				ObjectMeta: metav1.ObjectMeta{Name: "everywhere"},
				Spec: appsv1.DaemonSetSpec{
					Selector: selector("everywhere"),
					Template: newTemplate("everywhere", resources("50m", "32Mi", "", "")),
				},
			}, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := client.BatchV1().Jobs(namespace).Create(ctx, &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Name: "job"},
				Spec:       batchv1.JobSpec{Template: job},
			}, metav1.CreateOptions{})
			return err
		},
	}
	for _, create := range objects {
		if err := create(); err != nil {
			t.Fatal(err)
		}
	}
	pod := awaitPod(t, client, "guaranteed")
	mixed := awaitPod(t, client, "burstable")
	awaitPod(t, client, "everywhere")
	eventually(t, 30*time.Second, func(ctx context.Context) error {
		job, err := client.BatchV1().Jobs(namespace).Get(ctx, "job", metav1.GetOptions{})
		if err == nil && job.Status.Succeeded == 0 {
			err = errors.New("the job has not succeeded")
		}
		return err
	})

	t.Run("an increase is actuated", func(t *testing.T) {
		resize(t, client, pod, "main", resources("1", "512Mi", "1", "512Mi"))
		awaitResized(t, client, pod, "main", resources("1", "512Mi", "1", "512Mi"))
	})
	t.Run("a memory decrease is actuated", func(t *testing.T) {
		resize(t, client, pod, "main", resources("1", "128Mi", "1", "128Mi"))
		awaitResized(t, client, pod, "main", resources("1", "128Mi", "1", "128Mi"))
	})
	t.Run("memory below the usage is an error", func(t *testing.T) {
		resize(t, client, pod, "main", resources("1", "8Mi", "1", "8Mi"))
		awaitCondition(t, client, pod, corev1.PodResizeInProgress, corev1.PodReasonError)
		resize(t, client, pod, "main", resources("1", "128Mi", "1", "128Mi"))
		awaitResized(t, client, pod, "main", resources("1", "128Mi", "1", "128Mi"))
	})
	t.Run("one of several containers is resized", func(t *testing.T) {
		resize(t, client, mixed, "second", resources("150m", "32Mi", "", ""))
		awaitResized(t, client, mixed, "second", resources("150m", "32Mi", "", ""))
		awaitResized(t, client, mixed, "main", resources("100m", "64Mi", "200m", "128Mi"))
	})
	t.Run("a sidecar is resized", func(t *testing.T) {
		resize(t, client, mixed, "sidecar", resources("150m", "32Mi", "", ""))
		awaitResized(t, client, mixed, "sidecar", resources("150m", "32Mi", "", ""))
	})
	t.Run("a resize beyond the free capacity is deferred", func(t *testing.T) {
		// Four cores are allocatable, but the DaemonSet's pod uses some of them.
		resize(t, client, pod, "main", resources("3990m", "128Mi", "3990m", "128Mi"))
		awaitCondition(t, client, pod, corev1.PodResizePending, corev1.PodReasonDeferred)
		resize(t, client, pod, "main", resources("1", "128Mi", "1", "128Mi"))
		awaitResized(t, client, pod, "main", resources("1", "128Mi", "1", "128Mi"))
	})
	t.Run("a deleted pod is removed", func(t *testing.T) {
		begin := time.Now()
		if err := client.CoreV1().Pods(namespace).Delete(t.Context(), pod, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, 10*time.Second, func(ctx context.Context) error {
			_, err := client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
				return nil
			case err != nil:
				return err
			}
			return errors.New("the pod still exists")
		})
		t.Logf("deletion took %.1f s", time.Since(begin).Seconds())
	})
}

func newTemplate(app string, resources corev1.ResourceRequirements) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "simulated/main", Resources: resources}}},
	}
}

func selector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

// resources omits empty quantities.
func resources(cpuRequest, memoryRequest, cpuLimit, memoryLimit string) corev1.ResourceRequirements {
	list := func(cpu, memory string) corev1.ResourceList {
		list := corev1.ResourceList{}
		if cpu != "" {
			list[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
		if memory != "" {
			list[corev1.ResourceMemory] = resource.MustParse(memory)
		}
		return list
	}
	return corev1.ResourceRequirements{Requests: list(cpuRequest, memoryRequest), Limits: list(cpuLimit, memoryLimit)}
}

// awaitPod waits for a ready pod of the app and returns its name.
func awaitPod(t *testing.T, client kubernetes.Interface, app string) string {
	t.Helper()
	var name string
	eventually(t, 30*time.Second, func(ctx context.Context) error {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + app})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			for _, condition := range pod.Status.Conditions {
				if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
					name = pod.Name
					return nil
				}
			}
		}
		return fmt.Errorf("none of %d pods of %s is ready", len(pods.Items), app)
	})
	return name
}

// resize patches one container's resources through the resize subresource.
func resize(t *testing.T, client kubernetes.Interface, pod, container string, resources corev1.ResourceRequirements) {
	t.Helper()
	list := "containers"
	if container == "sidecar" {
		list = "initContainers"
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{
		list: []any{map[string]any{"name": container, "resources": resources}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Pods(namespace).Patch(t.Context(), pod, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize")
	if err != nil {
		t.Fatalf("resize %s to %s: %v", container, patch, err)
	}
}

// awaitResized waits until a container actually has the desired resources, without a restart,
// and the pod has no resize left to do. A restarted kubelet checks for resizes that it missed
// only after half a minute.
func awaitResized(t *testing.T, client kubernetes.Interface, pod, container string, want corev1.ResourceRequirements) {
	t.Helper()
	begin := time.Now()
	eventually(t, time.Minute, func(ctx context.Context) error {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Status.ObservedGeneration != pod.Generation {
			return errors.New("the node has not seen the resize")
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodResizePending || condition.Type == corev1.PodResizeInProgress {
				return fmt.Errorf("%s: %s %s", condition.Type, condition.Reason, condition.Message)
			}
		}
		for _, status := range append(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses...) {
			if status.Name != container {
				continue
			}
			if status.RestartCount != 0 || !status.Ready {
				return fmt.Errorf("%d restarts, ready: %t", status.RestartCount, status.Ready)
			}
			return sameResources(status.Resources, want)
		}
		return errors.New("the container has no status")
	})
	t.Logf("status was up to date after %v", time.Since(begin).Round(time.Millisecond))
}

func sameResources(got *corev1.ResourceRequirements, want corev1.ResourceRequirements) error {
	if got == nil {
		return errors.New("no actual resources are reported")
	}
	for _, pair := range []struct{ got, want corev1.ResourceList }{{got.Requests, want.Requests}, {got.Limits, want.Limits}} {
		if len(pair.got) != len(pair.want) {
			return fmt.Errorf("got %v, want %v", pair.got, pair.want)
		}
		for name, quantity := range pair.want {
			if actual := pair.got[name]; actual.Cmp(quantity) != 0 {
				return fmt.Errorf("%s is %s, want %s", name, actual.String(), quantity.String())
			}
		}
	}
	return nil
}

// awaitCondition waits for a condition that is true with the given reason, and returns
// it.
func awaitCondition(t *testing.T, client kubernetes.Interface, pod string, conditionType corev1.PodConditionType, reason string) corev1.PodCondition {
	t.Helper()
	var found corev1.PodCondition
	eventually(t, 30*time.Second, func(ctx context.Context) error {
		pod, err := client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == conditionType && condition.Status == corev1.ConditionTrue && condition.Reason == reason {
				found = condition
				return nil
			}
		}
		return fmt.Errorf("no condition %s/%s in %v", conditionType, reason, pod.Status.Conditions)
	})
	return found
}
