package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// guarded stamps and guards pods: resizes take two writes, the policies do not hinder
// real kubelets and controllers, and a user who may only patch pods cannot size them.
func (c *cluster) guarded(t *testing.T) {
	const namespace = "guarded"
	c.namespace(t, namespace)
	c.apply(t, deploy.StampOriginals())
	t.Cleanup(func() { c.unstamp(t) })
	kubectl := c.meddler(t, namespace)
	refused := func(args ...string) {
		t.Helper()
		code, said := kubectl(args...)
		if code == 0 {
			t.Errorf("kubectl %v is not rejected: %s", args, said)
		}
		wants(t, said, "workload-resizer-annotation-guard")
	}
	c.awaitPolicies(t, namespace)

	c.configure(t, withN4("1.25"))
	s := c.serveReady(t)
	before := s.metric(t, `workload_resizer_api_writes_total{code="200",step="originals"}`)
	c.deploy(t, namespace,
		app{name: "web", nodeType: "n4", requests: small},
		app{name: "other", nodeType: "n4", requests: small},
		app{name: "control", nodeType: "n4", requests: small})
	for _, name := range []string{"web", "other", "control"} {
		c.awaitCPU(t, namespace, name, "80m")
		c.awaitOriginal(t, namespace, name, "100m")
	}
	if after := s.metric(t, `workload_resizer_api_writes_total{code="200",step="originals"}`); after != before {
		t.Errorf("originals were written %v times", after-before)
	}

	web, other := c.one(t, namespace, "web").Name, c.one(t, namespace, "other").Name
	refused("annotate", "--overwrite", "pod", web, "workload-resizer.io/original-cpu.app=7")
	refused("annotate", "--overwrite", "pod", web, "--field-manager=workload-resizer", "workload-resizer.io/original-cpu.app=7")
	refused("annotate", "pod", web, "workload-resizer.io/original-cpu.app-")
	refused("patch", "pod", web, "--subresource=status", "-p", `{"metadata": {"annotations": {"workload-resizer.io/original-cpu.app": "7"}}}`)
	refused("patch", "pod", web, "--type=merge", "-p", `{"metadata": {"managedFields": [{}]}}`)
	// The entries that the API server itself merges are not a loophole either.
	for i := range 15 {
		if code, said := kubectl("label", "pod", other, fmt.Sprintf("--field-manager=writer-%d", i), fmt.Sprintf("l%d=1", i)); code != 0 {
			t.Fatalf("kubectl label exits with %d: %s", code, said)
		}
	}
	refused("patch", "pod", other, "--type=merge", "-p", `{"metadata": {"managedFields": [{}]}}`)

	// Sizes follow from the true originals, or stay.
	c.reconfigure(t, s, withN4("1.6"))
	c.awaitCPU(t, namespace, "web", "63m")
	c.awaitCPU(t, namespace, "control", "63m")
	c.checkCPU(t, namespace, "other", "80m")
	c.awaitSkipped(t, s, c.one(t, namespace, "other"), "InvalidAnnotation", "managedFields no longer show who resized the pod")
	if code, said := kubectl("annotate", "pod", web, "workload-resizer.io/skip=true"); code != 0 {
		t.Errorf("a pod cannot opt out: %s", said)
	}
	if code, said := kubectl("annotate", "pod", web, "workload-resizer.io/skip-"); code != 0 {
		t.Errorf("a pod cannot opt in: %s", said)
	}
	s.resizectl(t, 0, "restore", "-n", namespace, web)
	localcluster.Eventually(t, "the pod to have its originals, and no trace of the server", func() error {
		now := c.one(t, namespace, "web")
		if now.Annotations["workload-resizer.io/original-cpu.app"] != "" {
			return fmt.Errorf("it has %v", now.Annotations)
		}
		return hasCPU(now, "100m")
	})
	s.resizectl(t, 0, "resume", "-n", namespace, web)
	c.awaitCPU(t, namespace, "web", "63m")
}

// awaitPolicies waits until both policies are in effect.
func (c *cluster) awaitPolicies(t *testing.T, namespace string) {
	t.Helper()
	pods, yes := c.client.CoreV1().Pods(namespace), true
	probe := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "none", UID: "1", Controller: &yes}}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "none", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}}},
	}
	localcluster.Eventually(t, "originals to be stamped", func() error {
		made, err := pods.Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && made.Annotations["workload-resizer.io/original-cpu.app"] == "" {
			err = errors.New("they are not stamped")
		}
		return err
	})
	probe.OwnerReferences = nil // So that no controller deletes it.
	if _, err := pods.Create(t.Context(), probe, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "annotations to be guarded", func() error {
		_, err := pods.Patch(t.Context(), probe.Name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"workload-resizer.io/probe":"1"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("they are not guarded: %w", cmp.Or(err, errors.New("everything is allowed")))
		}
		return nil
	})
	if err := pods.Delete(t.Context(), probe.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
		t.Fatal(err)
	}
}

// unstamp deletes the binding of the policy that stamps, which disables the policy. The
// guard is part of the installation.
func (c *cluster) unstamp(t *testing.T) {
	bindings := c.client.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
	if err := bindings.Delete(context.WithoutCancel(t.Context()), "workload-resizer-stamp-originals", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}
