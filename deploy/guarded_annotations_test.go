package deploy

import (
	"context"
	"encoding/json"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// annotations tries to make each change in each way.
func (g *guarded) annotations(t *testing.T) {
	ways := []struct {
		name string
		// dropped means that the API server ignores annotations in this write.
		dropped bool
		write   func(pod *corev1.Pod, annotations map[string]any) error
	}{
		{"a patch", false, func(pod *corev1.Pod, annotations map[string]any) error {
			return g.annotate(t.Context(), pod, annotations, "")
		}},
		{"a patch with the server's field manager", false, func(pod *corev1.Pod, annotations map[string]any) error {
			return g.annotate(t.Context(), pod, annotations, contract.FieldManager)
		}},
		{"a patch of the status", false, func(pod *corev1.Pod, annotations map[string]any) error {
			return g.annotate(t.Context(), pod, annotations, "", "status")
		}},
		{"a patch of ephemeral containers", true, func(pod *corev1.Pod, annotations map[string]any) error {
			return g.annotate(t.Context(), pod, annotations, "", "ephemeralcontainers")
		}},
		{"an update", false, func(pod *corev1.Pod, annotations map[string]any) error {
			_, err := g.meddler.CoreV1().Pods(pod.Namespace).Update(t.Context(), changed(pod, annotations), metav1.UpdateOptions{})
			return err
		}},
		{"an update of the status", false, func(pod *corev1.Pod, annotations map[string]any) error {
			_, err := g.meddler.CoreV1().Pods(pod.Namespace).UpdateStatus(t.Context(), changed(pod, annotations), metav1.UpdateOptions{})
			return err
		}},
	}
	for _, tc := range []struct {
		name        string
		annotations map[string]any
		refused     string
	}{
		{"an original is changed", map[string]any{"workload-resizer.io/original-cpu.app": "7"}, refusedAnnotations},
		{"an original is removed", map[string]any{"workload-resizer.io/original-cpu.app": nil}, refusedAnnotations},
		{"an original is added", map[string]any{"workload-resizer.io/original-memory.app": "1Gi"}, refusedAnnotations},
		{"the node type is changed", map[string]any{"workload-resizer.io/applied-instance-type": "n2d"}, refusedAnnotations},
		{"a resize is marked as adopted", map[string]any{"workload-resizer.io/adopted-at": "2026-11-21T01:02:03Z"}, refusedAnnotations},
		{"an original is removed while the pod opts out", map[string]any{"workload-resizer.io/skip": "true", "workload-resizer.io/original-cpu.app": nil}, refusedAnnotations},
		{"the pod opts out", map[string]any{"workload-resizer.io/skip": "true"}, ""},
		{"the pod is ranked", map[string]any{"workload-resizer.io/eviction-rank": "never"}, ""},
		{"the pod opts in again", map[string]any{"workload-resizer.io/skip": nil}, ""},
		{"an annotation of another actor is changed", map[string]any{"example.com/original-cpu.app": "7"}, ""},
		{"an annotation with a similar prefix is changed", map[string]any{"workload-resizer.io.example.com/a": "7"}, ""},
	} {
		for _, way := range ways {
			pod := g.sized(t)
			err := way.write(pod, tc.annotations)
			if way.dropped {
				expect(t, tc.name+" by "+way.name, err, "")
			} else {
				expect(t, tc.name+" by "+way.name, err, tc.refused)
			}
			if now := g.get(t, pod); (way.dropped || tc.refused != "") && !maps.Equal(now.Annotations, pod.Annotations) {
				t.Errorf("%s by %s: the pod has %v", tc.name, way.name, now.Annotations)
			}
		}
	}
	for name, tc := range map[string]struct{ annotation, refused string }{
		"with an original":                    {"workload-resizer.io/original-cpu.app", refusedAnnotations},
		"that opts out":                       {"workload-resizer.io/skip", ""},
		"with an annotation of another actor": {"example.com/a", ""},
		"with an applied node type":           {"workload-resizer.io/applied-instance-type", refusedAnnotations},
	} {
		pod := g.pod(t, "")
		binding := &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, Annotations: map[string]string{tc.annotation: "1"}},
			Target:     corev1.ObjectReference{Kind: "Node", Name: "node"},
		}
		err := g.meddler.CoreV1().RESTClient().Post().Namespace(pod.Namespace).Resource("bindings").Body(binding).Do(t.Context()).Error()
		expect(t, "a binding "+name, err, tc.refused)
		pod = g.pod(t, "")
		binding.Name = pod.Name
		expect(t, "a pod's binding "+name, g.meddler.CoreV1().Pods(pod.Namespace).Bind(t.Context(), binding, metav1.CreateOptions{}), tc.refused)
		if tc.refused == "" && g.get(t, pod).Annotations[tc.annotation] != "1" {
			t.Errorf("a pod's binding %s does not annotate the pod", name)
		}
	}
}

func (g *guarded) annotate(ctx context.Context, pod *corev1.Pod, annotations map[string]any, manager string, subresources ...string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	return patchPod(ctx, g.meddler, pod, string(body), manager, subresources...)
}

func changed(pod *corev1.Pod, annotations map[string]any) *corev1.Pod {
	pod = pod.DeepCopy()
	for key, value := range annotations {
		if value == nil {
			delete(pod.Annotations, key)
		} else {
			pod.Annotations[key] = value.(string)
		}
	}
	return pod
}
