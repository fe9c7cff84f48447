package reconciler

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// many is a pod with all that is kept for each pod.
func many(name, at string) *corev1.Pod {
	return trimPod(pod(guaranteed, named("shop", name, "n4-"+name), func(p *corev1.Pod) {
		p.ResourceVersion, p.Generation = "7"+name, 3
		p.Annotations = map[string]string{contract.AppliedAt: at, contract.AppliedInstanceType: "n4", "a": "b"}
		when := metav1.NewTime(time.Unix(1_700_000_000, 0))
		p.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "creator", Time: &when, FieldsV1: metav1.NewFieldsV1(`{"f:restartPolicy":{}}`)},
			{Manager: "untimed", Subresource: "resize", FieldsV1: metav1.NewFieldsV1(`{}`)},
		}
	}))
}

func TestAKeptPodIsThePodThatCame(t *testing.T) {
	s := newStock()
	deleted := metav1.NewTime(time.Unix(1_700_000_001, 0))
	leaving := many("leaving", "2026-01-02T03:04:05Z")
	leaving.DeletionTimestamp = &deleted
	for _, want := range []*corev1.Pod{many("a", "2026-01-02T03:04:05Z"), many("b", ""), leaving, trimPod(&corev1.Pod{}), trimPod(filledPod())} {
		kept, err := s.keep(want)
		do(t, err)
		if want.Annotations[contract.AppliedAt] == "" && want.Annotations != nil {
			delete(want.Annotations, contract.AppliedAt)
			kept, err = s.keep(want)
			do(t, err)
		}
		if diff := cmp.Diff(want, kept.pod()); diff != "" {
			t.Errorf("pod %q: -came +kept:\n%s", want.Name, diff)
		}
	}
}

func TestPodsOfATemplateShareWhatTheyHaveInCommon(t *testing.T) {
	s := newStock()
	keep := func(p *corev1.Pod) *keptPod {
		kept, err := s.keep(p)
		do(t, err)
		return kept
	}
	a, b := keep(many("a", "2026-01-02T03:04:05Z")), keep(many("b", "2026-01-02T03:04:06Z"))
	if a.form != b.form {
		t.Error("two pods of a template share nothing")
	}
	other := many("c", "2026-01-02T03:04:05Z")
	other.Labels = map[string]string{"other": "yes"}
	if c := keep(other); c.keys == a.keys || c.form != a.form {
		t.Error("a pod with other labels shares their keys, or nothing else")
	}
	larger := many("d", "2026-01-02T03:04:05Z")
	larger.Spec.Containers[0].Resources = amounts{"7", "7", "1Gi", "1Gi"}.requirements()
	if d := keep(larger); d.form == a.form || d.keys != a.keys {
		t.Error("a pod of another size shares it, or nothing else")
	}
	runtime.KeepAlive(b)
}

func TestWhatNoPodHasAnyMoreIsNotKept(t *testing.T) {
	s := newStock()
	_, err := s.keep(many("a", ""))
	do(t, err)
	localcluster.Eventually(t, "the garbage collector to find it", func() error {
		runtime.GC()
		if left := s.forms.count() + s.keys.count(); left > 0 {
			return fmt.Errorf("%d are left", left)
		}
		return nil
	})
}

func (s *shelf[T]) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.values)
}

// filledPod has something in most fields that are kept.
func filledPod() *corev1.Pod {
	p := pod(guaranteed, named("shop", "filled", "n4-0"))
	p.Labels = map[string]string{"l": strings.Repeat("v", 63)}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "u"}}
	p.Status.Phase, p.Status.QOSClass, p.Status.ObservedGeneration = corev1.PodRunning, corev1.PodQOSGuaranteed, 3
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: p.Spec.Containers[0].Name, RestartCount: 2, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		Resources: p.Spec.Containers[0].Resources.DeepCopy(), AllocatedResources: p.Spec.Containers[0].Resources.DeepCopy().Requests,
	}}
	return p
}
