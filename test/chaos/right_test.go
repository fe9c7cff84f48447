package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// right returns an error unless a pod is as it should be in the end, given the ratios and
// the holds. A paused pod may have any size.
func (w *world) right(key types.NamespacedName) error {
	w.mu.Lock()
	created, tbl := w.created[key], w.table
	nodeType := w.nodeTypes[created.Spec.NodeName]
	w.mu.Unlock()
	pod := w.pod(key)
	if pod == nil || pod.UID != created.UID {
		return fmt.Errorf("%s does not exist", key)
	}
	sizes, annotations := tbl.sizesFor(created, nodeType), sizedFor(created, nodeType)
	switch h, _ := w.holds.table().Of(key.Namespace, key.Name, pod.UID); h.Kind {
	case hold.Pause:
		return nil
	case hold.Restore:
		sizes, annotations = sizesOf(created), nil
	}
	if got := sizesOf(pod); got != sizes {
		return fmt.Errorf("%s on %s has %q, want %q; it was created with %q", key, nodeType, got, sizes, sizesOf(created))
	}
	if heldBack(created) && sizes == sizesOf(created) {
		// If nothing was done to a pod and nothing can be, nothing needs to be recorded.
		// All records must be correct.
		maps.DeleteFunc(annotations, func(key, _ string) bool { return pod.Annotations[key] == "" })
	}
	if err := compareAnnotations(pod.Annotations, annotations); err != nil {
		return fmt.Errorf("%s on %s: %w", key, nodeType, err)
	}
	if recorded, ok := recordedSizes(pod); ok && recorded != sizes {
		return fmt.Errorf("%s on %s has %q, but the record of the last resize says %q", key, nodeType, sizes, recorded)
	}
	return nil
}

// allRight returns an error unless all pods are right.
func (w *world) allRight() error {
	for _, key := range w.keys() {
		if err := w.right(key); err != nil {
			if pod := w.pod(key); pod != nil {
				return fmt.Errorf("%w; %s", err, w.planned(pod))
			}
			return err
		}
	}
	return nil
}

// planned returns what the last process plans for a pod, and from which state of the pod.
func (w *world) planned(pod *corev1.Pod) string {
	p, err := w.life.Preview(context.Background(), types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, query.PreviewOptions{})
	if err != nil {
		return fmt.Sprintf("no plan: %v", err)
	}
	return fmt.Sprintf("plan: %v, reasons: %v, from version %s of the pod; it has %s", p.Decision, p.Reasons, p.ResourceVersion, pod.ResourceVersion)
}

func (w *world) awaitAllRight(t *testing.T, when string) {
	t.Helper()
	localcluster.Eventually(t, "all pods to be right "+when, w.allRight)
}

// heldBack reports whether any resource of the pod cannot be resized without a restart.
func heldBack(created *corev1.Pod) bool {
	return slices.ContainsFunc(resizable(created), func(c *corev1.Container) bool {
		return restarts(c, corev1.ResourceCPU) || restarts(c, corev1.ResourceMemory)
	})
}

// sizedFor returns the annotations of a pod that is sized for a node type, except for the
// time.
func sizedFor(created *corev1.Pod, nodeType string) map[string]string {
	annotations := map[string]string{contract.AppliedInstanceType: nodeType}
	for _, c := range resizable(created) {
		for original, list := range map[contract.Original]corev1.ResourceList{
			contract.CPURequest: c.Resources.Requests, contract.CPULimit: c.Resources.Limits,
			contract.MemoryRequest: c.Resources.Requests, contract.MemoryLimit: c.Resources.Limits,
		} {
			name := corev1.ResourceCPU
			if original == contract.MemoryRequest || original == contract.MemoryLimit {
				name = corev1.ResourceMemory
			}
			if q, ok := list[name]; ok {
				annotations[original.Key(c.Name)] = q.String()
			}
		}
	}
	return annotations
}

// compareAnnotations compares the annotations of the contract, and quantities by value.
func compareAnnotations(got, want map[string]string) error {
	for key, value := range got {
		switch wanted, ok := want[key]; {
		case !strings.HasPrefix(key, contract.Prefix):
		case key == contract.AppliedAt:
			if _, err := time.Parse(time.RFC3339, value); err != nil {
				return err
			}
		case key == contract.AppliedSizes:
			if pod.ParseAppliedSizes(value) == nil {
				return fmt.Errorf("annotation %s: %q is invalid", key, value)
			}
		case !ok:
			return fmt.Errorf("unexpected annotation %s: %q", key, value)
		case value != wanted && !equalQuantities(value, wanted):
			return fmt.Errorf("annotation %s: %q, want %q", key, value, wanted)
		}
	}
	for key, value := range want {
		if _, ok := got[key]; !ok {
			return fmt.Errorf("annotation %s is missing, want %q", key, value)
		}
	}
	_, applied := want[contract.AppliedInstanceType]
	if _, ok := got[contract.AppliedAt]; ok != applied {
		return fmt.Errorf("annotation %s: present is %v, want %v", contract.AppliedAt, ok, applied)
	}
	return nil
}

// recordedSizes returns the sizes that the last resize led to, according to its record; false if there is none.
func recordedSizes(of *corev1.Pod) (string, bool) {
	text, ok := of.Annotations[contract.AppliedSizes]
	record := pod.ParseAppliedSizes(text)
	return oracle.Text(resizable(of), func(c *corev1.Container) (cpu, memory oracle.Amount) {
		has, _ := record.Of(c.Name, 0)
		return oracle.Amount(has.To.CPU), oracle.Amount(has.To.Memory)
	}), ok
}

func equalQuantities(a, b string) bool {
	x, err := resource.ParseQuantity(a)
	y, also := resource.ParseQuantity(b)
	return err == nil && also == nil && x.Cmp(y) == 0
}
